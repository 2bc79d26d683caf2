"""Alternative: a ZeroMQ ROUTER with worker threads, DEALER clients."""

from core.system import System

SYSTEM = System(
    name="alt-pyzmq",
    title="ZeroMQ ROUTER, worker threads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service="services.alternatives.zmq_router:zmq_service",
    caller="clients.alt.pyzmq:caller",
    message="clients.channel:json_message",
    requirements="requirements/pyzmq.txt",
    request_cpu_us=200,
)
