"""Alternative: a ZeroMQ ROUTER with worker threads, DEALER clients."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-pyzmq",
    title=message("ZeroMQ ROUTER, worker threads = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service="services.alternatives.zmq_router:zmq_service",
    caller="clients.alt.pyzmq:caller",
    message="clients.channel:json_message",
    requirements="requirements/pyzmq.txt",
    request_cpu_us=200,
)
