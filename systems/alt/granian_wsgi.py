"""Alternative: a WSGI application on Granian."""

from clients.alt.callers import http_caller
from clients.channel import http_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.granian_command import granian_wsgi_service

    return granian_wsgi_service(cell.num_workers_per_api_service, folder)


SYSTEM = System(
    name="alt-granian-wsgi",
    title="Granian WSGI, blocking threads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service=_service,
    caller=http_caller,
    message=http_message,
    requirements="requirements/granian.txt",
    no_forced_gil="Granian refuses to run on a free-threaded build whose GIL is on",
    request_cpu_us=150,
)
