"""Alternative: a WSGI application on Gunicorn's gthread worker."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-gunicorn",
    title=message("Gunicorn gthread, 1 worker, threads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service="services.alternatives.gunicorn_command:wsgi_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    requirements="requirements/gunicorn.txt",
    request_cpu_us=350,
)
