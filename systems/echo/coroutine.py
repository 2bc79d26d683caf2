"""Echo server with asio + Boost.Context coroutines, in place of libco: native/echo/coroutine."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="echo-coroutine",
    title=message("asio + Boost.Context coroutines, in place of libco"),
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_SERVER_THREADS"),
    native_service=Program(name="echo-coroutine"),
    native_client=ECHO,
    request_cpu_us=30,
)
