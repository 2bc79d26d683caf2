"""Echo server with asyncio's own event loop: services/echo_loop.py."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, System

SYSTEM = System(
    name="echo-asyncio",
    title=message("asyncio (Python)"),
    group="echo",
    common=SIZES,
    reads=ECHO_READS,
    service="services.echo_loop:asyncio_service",
    native_client=ECHO,
    spreads=True,
    request_cpu_us=60,
)
