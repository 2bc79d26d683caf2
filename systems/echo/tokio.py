"""Echo server with tokio (Rust): native/echo/tokio."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="echo-tokio",
    title=message("tokio (Rust)"),
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_SERVER_THREADS"),
    native_service=Program(name="echo-tokio", arguments=("--child",)),
    native_client=ECHO,
    spreads=True,
    request_cpu_us=30,
)
