"""Uvicorn with `uvicorn[standard]`: one event loop (uvloop) and httptools, which `auto` picks where they are.

The calculation runs in the loop: an `async def` view, as in system 3. The access log is off.
Source: uvicorn.dev/settings/
"""

import uvicorn

from services.alternatives.asgi_app import AsgiApp
from services.alternatives.counts import Counts
from services.alternatives.hosted import HostedService
from services.alternatives.http_answer import IDLE_S
from services.listeners import BACKLOG, Listener


def uvicorn_service(listener: Listener, app: AsgiApp, counts: Counts) -> HostedService:
    """The service on *listener*; *app* counts into *counts*."""
    config = uvicorn.Config(
        app,
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
