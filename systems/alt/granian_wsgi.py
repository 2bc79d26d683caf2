"""Alternative: a WSGI application on Granian."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-granian-wsgi",
    title=message("Granian WSGI, blocking threads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service="services.alternatives.granian_command:wsgi_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    requirements="requirements/granian.txt",
    no_forced_gil=message("Granian refuses to run on a free-threaded build whose GIL is on"),
    request_cpu_us=150,
)
