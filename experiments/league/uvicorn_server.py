"""Uvicorn with `uvicorn[standard]`: one event loop (uvloop) and httptools, which `auto` picks where they are.

The calculation runs in the loop: an `async def` view, as in system 3. The access log is off.
Source: uvicorn.dev/settings/
"""

import uvicorn

from core.cell import Cell
from experiments.league.hosted import Counts, HostedService
from experiments.league.http_answer import IDLE_S, asgi_app
from services.listeners import BACKLOG, listen_tcp


def uvicorn_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The service of *cell*, listening."""
    listener, counts = listen_tcp(), Counts()
    config = uvicorn.Config(
        asgi_app(counts),
        lifespan="off",
        log_level="warning",
        access_log=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_S,
    )
    config.load()
    config.get_loop_factory()  # an extension that is imported switches the GIL on for as long as it takes: not later
    server = uvicorn.Server(config)
    return HostedService(listener, lambda: server.run(sockets=[listener.sock]), counts)
