"""Alternative: multiprocessing.connection, a thread for each connection."""

from clients.alt.callers import framed_caller
from clients.channel import framed_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.mpconnection import connection_service

    return connection_service(unix_path(cell, service_id, folder))


SYSTEM = System(
    name="alt-mpconnection",
    title="multiprocessing.connection, thread per connection",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=framed_caller,
    message=framed_message,
    request_cpu_us=80,
)
