"""Alternative: a WSGI application on Waitress."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-waitress",
    title=message("Waitress, threads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service="services.alternatives.waitress_server:wsgi_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    requirements="requirements/waitress.txt",
    spreads=True,
    request_cpu_us=400,
)
