"""Echo server with libuv (C): native/echo/libuv."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="echo-libuv",
    title=message("libuv (C)"),
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_SERVER_THREADS"),
    native_service=Program(name="echo-libuv"),
    native_client=ECHO,
    request_cpu_us=30,
)
