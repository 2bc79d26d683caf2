"""Alternative: gRPC with a pool of threads and its own client."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-grpc",
    title=message("gRPC, max_workers = workers"),
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service="services.alternatives.grpc_server:grpc_service",
    caller="clients.alt.grpc:caller",
    message="clients.channel:json_message",
    requirements="requirements/grpcio.txt",
    request_cpu_us=500,
)
