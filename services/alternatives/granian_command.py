"""Granian: one worker, started by its command; on a free-threaded build the worker is a thread of the server.

WSGI: NUM_WORKERS_PER_API_SERVICE blocking threads, its setting for how much Python runs at once. ASGI: one event loop
(uvloop, by `granian[uvloop]`) and one blocking thread, which is its default. Both: one runtime thread, HTTP/1.1.
It refuses to run on a free-threaded build whose GIL is on, so there is no 3.14t+gil.
Source: github.com/emmett-framework/granian#workers-and-threads
"""

from core.cell import Cell
from services.alternatives.commanded import CommandedService, ServerCommand, free_port
from services.listeners import LOOPBACK


def wsgi_service(cell: Cell, service_id: int, folder: str) -> CommandedService:
    """WSGI on threads."""
    return _service("wsgi", ["--blocking-threads", str(cell.num_workers_per_api_service)], folder)


def asgi_service(cell: Cell, service_id: int, folder: str) -> CommandedService:
    """ASGI in one event loop."""
    return _service("asgi", [], folder)


def _service(interface: str, more: list[str], folder: str) -> CommandedService:
    held, port = free_port()
    arguments = [
        *("granian", "--interface", interface, "--host", LOOPBACK, "--port", str(port)),
        *("--http", "1", "--no-ws", "--workers", "1", "--log-level", "error", *more),
        *("--factory", f"services.alternatives.loaded:make_{interface}"),
    ]
    return CommandedService(ServerCommand(arguments, port, folder, held=[held]))
