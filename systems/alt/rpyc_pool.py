"""Alternative: RPyC's ThreadPoolServer and its own client."""

from clients.alt.callers import json_message, rpyc_caller
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.rpyc_servers import pool_service

    return pool_service(unix_path(cell, service_id, folder), cell.num_workers_per_api_service)


SYSTEM = System(
    name="alt-rpyc-pool",
    title="RPyC ThreadPoolServer, nbThreads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service=_service,
    caller=rpyc_caller,
    message=json_message,
    requirements="requirements/rpyc.txt",
    request_cpu_us=450,
)
