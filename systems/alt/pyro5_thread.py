"""Alternative: Pyro5's thread server and its own client."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-pyro5-thread",
    title=message("Pyro5 thread, THREADPOOL_SIZE = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service="services.alternatives.pyro_daemon:thread_service",
    caller="clients.alt.pyro5:caller",
    message="clients.channel:json_message",
    requirements="requirements/pyro5.txt",
    request_cpu_us=300,
)
