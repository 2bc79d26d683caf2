"""Alternative: asyncio streams, one event loop."""

from clients.alt.callers import framed_caller
from clients.channel import framed_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.streams import streams_service
    from services.listeners import listen

    return streams_service(listen(cell, service_id, folder)[0])


SYSTEM = System(
    name="alt-asyncio-streams",
    title="asyncio streams, one loop",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=framed_caller,
    message=framed_message,
    request_cpu_us=110,
)
