"""Alternative: an ASGI application on Granian."""

from clients.alt.callers import http_caller
from clients.channel import http_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.granian_command import granian_asgi_service

    return granian_asgi_service(folder)


SYSTEM = System(
    name="alt-granian-asgi",
    title="Granian ASGI, one loop",
    group="league",
    service=_service,
    caller=http_caller,
    message=http_message,
    requirements="requirements/granian.txt",
    no_forced_gil="Granian refuses to run on a free-threaded build whose GIL is on",
    request_cpu_us=150,
)
