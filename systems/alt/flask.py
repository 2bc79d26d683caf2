"""Alternative: a Flask application on Waitress."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-flask",
    title=message("Flask on Waitress, threads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service="services.alternatives.waitress_server:flask_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    requirements="requirements/flask.txt",
    spreads=True,
    request_cpu_us=500,
)
