"""Echo server with uvloop: services/echo_loop.py under the event loop of services/echo_uvloop.py."""

from clients.native import ECHO, ECHO_READS
from core.cell import Cell
from core.system import SIZES, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.echo_loop import EchoLoop
    from services.echo_uvloop import new_event_loop
    from services.listeners import listen

    return EchoLoop(listen(cell, service_id, folder)[0], new_event_loop, cell)


SYSTEM = System(
    name="echo-uvloop",
    title="uvloop (Python over libuv)",
    group="echo",
    common=SIZES,
    reads=ECHO_READS,
    service=_service,
    native_client=ECHO,
    requirements="requirements/uvloop.txt",
    request_cpu_us=40,
)
