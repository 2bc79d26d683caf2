"""Alternative: a WSGI application on Cheroot."""

from clients.alt.callers import http_caller
from clients.channel import http_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.cheroot_server import cheroot_service
    from services.alternatives.counts import Counts
    from services.alternatives.wsgi_app import wsgi_app

    counts = Counts()
    return cheroot_service(cell.num_workers_per_api_service, wsgi_app(counts), counts)


SYSTEM = System(
    name="alt-cheroot",
    title="Cheroot, numthreads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service=_service,
    caller=http_caller,
    message=http_message,
    requirements="requirements/cheroot.txt",
    request_cpu_us=400,
)
