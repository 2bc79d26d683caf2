"""Cheroot, CherryPy's server: a pool of NUM_WORKERS_PER_API_SERVICE threads behind a selector of kept connections.

`numthreads` is its documented setting for that. timeout is above the time that clients may need to start.
Source: cheroot.cherrypy.dev/en/latest/pkg/cheroot.wsgi/
"""

from typing import TYPE_CHECKING

from cheroot.wsgi import Server

from services.alternatives.counts import Counts
from services.alternatives.hosted import HostedService, Place, tcp_address
from services.alternatives.http_answer import IDLE_S
from services.listeners import BACKLOG, LOOPBACK

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


def cheroot_service(workers: int, app: "WSGIApplication", counts: Counts) -> HostedService:
    """The service on a free port of the loopback interface; *app* counts into *counts*."""
    server = Server((LOOPBACK, 0), app, numthreads=workers, request_queue_size=BACKLOG, timeout=IDLE_S)
    server.prepare()
    return HostedService(Place(tcp_address(server.bind_addr[1])), server.serve, counts)
