"""Echo server with Netty (Java): native/echo/netty."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="echo-netty",
    title=message("Netty (Java)"),
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_SERVER_THREADS"),
    native_service=Program(name="echo-netty"),
    native_client=ECHO,
    request_cpu_us=30,
)
