"""Alternative: AnyIO's buffered streams on asyncio, one event loop."""

from clients.alt.callers import framed_caller
from clients.channel import framed_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.anyio_app import anyio_service
    from services.listeners import listen

    return anyio_service(listen(cell, service_id, folder)[0])


SYSTEM = System(
    name="alt-anyio",
    title="AnyIO on asyncio, one loop",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=framed_caller,
    message=framed_message,
    requirements="requirements/anyio.txt",
    request_cpu_us=150,
)
