"""Granian: one worker, started by its command; on a free-threaded build the worker is a thread of the server.

WSGI: NUM_WORKERS_PER_API_SERVICE blocking threads, its setting for how much Python runs at once. ASGI: one event loop
(uvloop, by `granian[uvloop]`) and one blocking thread, which is its default. Both: one runtime thread, HTTP/1.1.
It refuses to run on a free-threaded build whose GIL is on, so there is no 3.14t+gil.
Source: github.com/emmett-framework/granian#workers-and-threads
"""

from functools import partial

from core.cell import Cell
from experiments.league.commanded import CommandedService, free_port
from services.listeners import LOOPBACK


def _service(interface: str, cell: Cell, service_id: int, folder: str) -> CommandedService:
    held, port = free_port()
    threads = ["--blocking-threads", str(cell.num_workers_per_api_service)] if interface == "wsgi" else []
    arguments = [
        *("granian", "--interface", interface, "--host", LOOPBACK, "--port", str(port)),
        *("--http", "1", "--no-ws", "--workers", "1", "--log-level", "error", *threads),
        *("--factory", f"experiments.league.loaded:make_{interface}"),
    ]
    return CommandedService(arguments, port, folder, held)


wsgi_service = partial(_service, "wsgi")
asgi_service = partial(_service, "asgi")
