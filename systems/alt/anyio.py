"""Alternative: AnyIO's buffered streams on asyncio, one event loop."""

from clients.native import FRAMED
from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-anyio",
    title=message("AnyIO on asyncio, one loop"),
    group="league",
    reads=("TRANSPORT",),
    service="services.alternatives.anyio_app:anyio_service",
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_client=FRAMED,
    requirements="requirements/anyio.txt",
    spreads=True,
    request_cpu_us=150,
)
