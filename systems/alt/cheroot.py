"""Alternative: a WSGI application on Cheroot."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-cheroot",
    title=message("Cheroot, numthreads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE",),
    service="services.alternatives.cheroot_server:cheroot_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    requirements="requirements/cheroot.txt",
    spreads=True,
    request_cpu_us=400,
)
