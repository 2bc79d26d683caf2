"""Alternative: a Flask application on Waitress."""

from clients.alt.callers import http_caller
from clients.channel import http_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.counts import Counts
    from services.alternatives.flask_app import flask_app
    from services.alternatives.waitress_server import waitress_service
    from services.listeners import listen_tcp

    counts = Counts()
    return waitress_service(listen_tcp(), cell.num_workers_per_api_service, flask_app(counts), counts)


SYSTEM = System(
    name="alt-flask",
    title="Flask on Waitress, threads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service=_service,
    caller=http_caller,
    message=http_message,
    requirements="requirements/flask.txt",
    request_cpu_us=500,
)
