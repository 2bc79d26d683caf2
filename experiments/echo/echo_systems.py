"""Declare echo servers in Python (loop.py, pool.py), C, C++, Rust and Java (native/echo), and their native client."""

from functools import partial

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, Program, System

_in_python = partial(
    System, group="echo", common=SIZES, reads=ECHO_READS, native_client=ECHO, supports_hosts=True, request_cpu_us=60
)
_hosted_program = partial(Program, builder="cmake", host="experiments.echo.program")
_program = partial(
    System,
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_SERVER_THREADS"),
    native_client=ECHO,
    request_cpu_us=30,
)

SYSTEMS = (
    _in_python(name="echo-asyncio", title=message("asyncio (Python)"), service="experiments.echo.loop:asyncio_service"),
    _in_python(
        name="echo-uvloop",
        title=message("uvloop (Python with libuv)"),
        service="experiments.echo.loop:uvloop_service",
        requirements="requirements/uvloop.txt",
        request_cpu_us=40,
    ),
    _in_python(  # uses the connection cache and the worker pool of system 4
        name="echo-pool",
        title=message("selector and thread pool (Python)"),
        reads=(*ECHO_READS, "NUM_WORKERS_PER_API_SERVICE", "SELECTOR"),
        service="experiments.echo.pool:echo_service",
    ),
    _program(name="echo-asio", title=message("Boost.Asio (C++)"), native_service=_hosted_program(name="echo-asio")),
    _program(
        name="echo-coroutine",
        title=message("asio + Boost.Context coroutines, in place of libco"),
        native_service=_hosted_program(name="echo-coroutine"),
    ),
    _program(name="echo-libuv", title=message("libuv (C)"), native_service=_hosted_program(name="echo-libuv")),
    _program(
        name="echo-netty",
        title=message("Netty (Java)"),
        native_service=_hosted_program(name="echo-netty", builder="maven", folder="echo/netty"),
    ),
    _program(
        name="echo-tokio",
        title=message("tokio (Rust)"),
        native_service=Program(name="echo-tokio", arguments=("--child",)),
        supports_hosts=True,
    ),
)
