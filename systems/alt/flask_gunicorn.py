"""Alternative: a Flask application on Gunicorn's gthread worker."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-flask-gunicorn",
    title=message("Flask on Gunicorn gthread, threads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service="services.alternatives.gunicorn_command:flask_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    requirements="requirements/flask.txt",
    request_cpu_us=500,
)
