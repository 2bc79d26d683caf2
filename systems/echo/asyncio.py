"""Echo server with asyncio's own event loop: services/echo_loop.py."""

from clients.native import ECHO, ECHO_READS
from core.cell import Cell
from core.system import SIZES, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from asyncio import new_event_loop

    from services.echo_loop import EchoLoop
    from services.listeners import listen

    return EchoLoop(listen(cell, service_id, folder)[0], new_event_loop, cell)


SYSTEM = System(
    name="echo-asyncio",
    title="asyncio (Python)",
    group="echo",
    common=SIZES,
    reads=ECHO_READS,
    service=_service,
    native_client=ECHO,
    request_cpu_us=60,
)
