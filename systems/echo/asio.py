"""Echo server with Boost.Asio (C++): native/echo/asio."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="echo-asio",
    title=message("Boost.Asio (C++)"),
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_SERVER_THREADS"),
    native_service=Program(name="echo-asio"),
    native_client=ECHO,
    request_cpu_us=30,
)
