"""Alternative: Pyro5's thread server and its own client."""

from clients.alt.callers import json_message, pyro5_caller
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.pyro_daemon import pyro_service

    return pyro_service(unix_path(cell, service_id, folder), "thread", cell.num_workers_per_api_service)


SYSTEM = System(
    name="alt-pyro5-thread",
    title="Pyro5 thread, THREADPOOL_SIZE = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service=_service,
    caller=pyro5_caller,
    message=json_message,
    requirements="requirements/pyro5.txt",
    request_cpu_us=300,
)
