"""Alternative: multiprocessing.connection, a thread for each connection."""

from clients.native import FRAMED
from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-mpconnection",
    title=message("multiprocessing.connection, thread per connection"),
    group="league",
    reads=("TRANSPORT",),
    service="services.alternatives.mpconnection:connection_service",
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_client=FRAMED,
    spreads=True,
    request_cpu_us=80,
)
