"""Alternative: a ZeroMQ ROUTER with worker threads, DEALER clients."""

from clients.alt.callers import caller_of, json_message
from core.cell import Cell
from core.system import Channel, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.zmq_router import zmq_service

    return zmq_service(unix_path(cell, service_id, folder), cell.num_workers_per_api_service)


def _channel(address: str) -> Channel:
    from clients.alt.pyzmq import ZmqChannel

    return ZmqChannel(address)


SYSTEM = System(
    name="alt-pyzmq",
    title="ZeroMQ ROUTER, worker threads = workers",
    group="league",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service=_service,
    caller=caller_of(_channel),
    message=json_message,
    requirements="requirements/pyzmq.txt",
    request_cpu_us=200,
)
