"""Alternative: Tornado's TCPServer, one event loop."""

from clients.alt.callers import framed_caller
from clients.channel import framed_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.tornado_tcp import tornado_tcp_service
    from services.listeners import listen

    return tornado_tcp_service(listen(cell, service_id, folder)[0])


SYSTEM = System(
    name="alt-tornado-tcp",
    title="Tornado TCPServer, one loop",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=framed_caller,
    message=framed_message,
    requirements="requirements/tornado.txt",
    request_cpu_us=150,
)
