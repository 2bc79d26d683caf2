"""Alternative: the asyncio protocol in uvloop's event loop, by a loop factory as uvloop's documentation has it.

Source: uvloop.readthedocs.io/user
"""

from clients.alt.callers import framed_caller
from clients.channel import framed_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.protocol import protocol_service
    from services.echo_uvloop import new_event_loop
    from services.listeners import listen

    return protocol_service(listen(cell, service_id, folder)[0], new_event_loop)


SYSTEM = System(
    name="alt-uvloop",
    title="uvloop, protocol, one loop",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=framed_caller,
    message=framed_message,
    requirements="requirements/uvloop.txt",
    request_cpu_us=80,
)
