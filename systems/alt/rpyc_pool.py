"""Alternative: RPyC's ThreadPoolServer and its own client."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-rpyc-pool",
    title=message("RPyC ThreadPoolServer, nbThreads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service="services.alternatives.rpyc_servers:pool_service",
    caller="clients.alt.rpyc:caller",
    message="clients.channel:json_message",
    requirements="requirements/rpyc.txt",
    spreads=True,
    request_cpu_us=450,
)
