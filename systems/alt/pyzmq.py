"""Alternative: a ZeroMQ ROUTER with worker threads, DEALER clients."""

from clients.alt.callers import json_message, pyzmq_caller
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.zmq_router import zmq_service

    return zmq_service(unix_path(cell, service_id, folder), cell.num_workers_per_api_service)


SYSTEM = System(
    name="alt-pyzmq",
    title="ZeroMQ ROUTER, worker threads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service=_service,
    caller=pyzmq_caller,
    message=json_message,
    requirements="requirements/pyzmq.txt",
    request_cpu_us=200,
)
