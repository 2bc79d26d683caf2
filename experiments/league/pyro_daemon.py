"""Pyro5: one exposed object in a daemon, single instance, with Pyro's default serializer (serpent).

The server type is Pyro's own choice of two: `thread`, a pool of at most NUM_WORKERS_PER_API_SERVICE threads of which
each serves one connection as long as it lasts (one more is refused, as Pyro documents), or `multiplex`, one thread
with a selector. Requests and answers are text, for serpent has no good way for bytes.
Source: pyro5.readthedocs.io/en/latest/servercode.html
"""

from functools import partial
from typing import Any

import Pyro5.api

from core.cell import Cell
from core.work import answer
from experiments.league.hosted import BoundAddress, Counts, HostedService, tcp_address, unix_path
from services.listeners import LOOPBACK

OBJECT = "calculator"


def _service(server_type: str, cell: Cell, service_id: int, folder: str) -> HostedService:
    path = unix_path(cell, service_id, folder)
    config: Any = Pyro5.api.config
    config.SERVERTYPE = server_type
    config.SOCK_NODELAY = not path
    config.THREADPOOL_SIZE = config.THREADPOOL_SIZE_MIN = cell.num_workers_per_api_service
    counts = Counts()

    @Pyro5.api.expose
    class Calculator:
        def answer(self, request: str) -> str:
            reply = answer(request.encode()).decode()
            counts.add()
            return reply

    daemon = Pyro5.api.Daemon(unixsocket=path) if path else Pyro5.api.Daemon(host=LOOPBACK, port=0)
    daemon.register(Calculator(), objectId=OBJECT)
    address = path or tcp_address(int(daemon.locationStr.rpartition(":")[2]))
    return HostedService(BoundAddress(address), daemon.requestLoop, counts)


thread_service = partial(_service, "thread")
multiplex_service = partial(_service, "multiplex")
