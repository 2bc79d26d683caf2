"""Alternative: RPyC's ThreadedServer and its own client."""

from clients.alt.callers import json_message, rpyc_caller
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.rpyc_servers import threaded_service

    return threaded_service(unix_path(cell, service_id, folder))


SYSTEM = System(
    name="alt-rpyc",
    title="RPyC ThreadedServer, thread per connection",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=rpyc_caller,
    message=json_message,
    requirements="requirements/rpyc.txt",
    request_cpu_us=400,
)
