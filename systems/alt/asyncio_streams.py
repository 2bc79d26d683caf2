"""Alternative: asyncio streams, one event loop."""

from clients.native import FRAMED
from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-asyncio-streams",
    title=message("asyncio streams, one loop"),
    group="league",
    reads=("TRANSPORT",),
    service="services.alternatives.streams:streams_service",
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_client=FRAMED,
    spreads=True,
    request_cpu_us=110,
)
