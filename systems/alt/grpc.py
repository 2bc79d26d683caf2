"""Alternative: gRPC with a pool of threads and its own client."""

from clients.alt.callers import grpc_caller, json_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.grpc_server import grpc_service
    from services.alternatives.hosted import unix_path

    return grpc_service(unix_path(cell, service_id, folder), cell.num_workers_per_api_service)


SYSTEM = System(
    name="alt-grpc",
    title="gRPC, max_workers = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service=_service,
    caller=grpc_caller,
    message=json_message,
    requirements="requirements/grpcio.txt",
    request_cpu_us=500,
)
