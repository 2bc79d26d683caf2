"""Alternative: a WSGI application on Gunicorn's gthread worker."""

from clients.alt.callers import http_caller
from clients.channel import http_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.gunicorn_command import gunicorn_service
    from services.listeners import listen_tcp

    return gunicorn_service(listen_tcp(), cell.num_workers_per_api_service, folder, "make_wsgi")


SYSTEM = System(
    name="alt-gunicorn",
    title="Gunicorn gthread, 1 worker, threads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service=_service,
    caller=http_caller,
    message=http_message,
    requirements="requirements/gunicorn.txt",
    request_cpu_us=350,
)
