"""Alternative: Tornado's TCPServer, one event loop."""

from clients.native import FRAMED
from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-tornado-tcp",
    title=message("Tornado TCPServer, one loop"),
    group="league",
    reads=("TRANSPORT",),
    service="services.alternatives.tornado_tcp:tornado_tcp_service",
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_client=FRAMED,
    requirements="requirements/tornado.txt",
    spreads=True,
    request_cpu_us=150,
)
