"""Cheroot, CherryPy's server: a pool of NUM_WORKERS_PER_API_SERVICE threads behind a selector of kept connections.

`numthreads` is its documented setting for that. timeout is above the time that clients may need to start.
Source: cheroot.cherrypy.dev/en/latest/pkg/cheroot.wsgi/
"""

from cheroot.wsgi import Server

from core.cell import Cell
from experiments.league.hosted import BoundAddress, Counts, HostedService, tcp_address
from experiments.league.http_answer import IDLE_S, wsgi_app
from services.listeners import BACKLOG, Reach, for_peers


def cheroot_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The service of *cell*, listening on a free port of the loopback interface."""
    counts, threads = Counts(), cell.num_workers_per_api_service
    place = (Reach.address, 0)
    server = Server(place, wsgi_app(counts), numthreads=threads, request_queue_size=BACKLOG, timeout=IDLE_S)
    server.prepare()
    server.socket = for_peers(server.socket)
    return HostedService(BoundAddress(tcp_address(server.bind_addr[1])), server.serve, counts)
