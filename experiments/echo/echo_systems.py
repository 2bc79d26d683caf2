"""Declare echo servers in Python (python_servers.py), in C, C++, Rust and Java (native/echo), and
their native client.

systems/__init__.py finds SYSTEMS, and core.system.System explains the fields. The names begin with
`echo-`, as the file's name does. Services are named as "module:function", so that only their own
children import them.
"""

from functools import partial
from typing import Literal

from core.messages import Message, message
from core.system import ECHO, SIZES, Program, System

ECHO_READS = (
    "NUM_CONNECTIONS_PER_CLIENT",
    "MESSAGE_BYTES",
    "TRANSPORT",
    "NODELAY",
    "BUFFER_BYTES",
    "RATE",
)

_echo = partial(System, group="echo", common=SIZES, native_client=ECHO)
_in_python = partial(_echo, reads=ECHO_READS, supports_hosts=True, request_cpu_us=60)
_program = partial(_echo, reads=(*ECHO_READS, "NUM_SERVER_THREADS"), request_cpu_us=30)


def _hosted(
    name: str, title: Message, builder: Literal["cmake", "maven"] = "cmake", folder: str = ""
) -> System:
    """Return an echo server that echo_program.py runs.

    name: of the system, and of the program in native/bin
    folder: for Maven: its folder in native/
    """
    program = Program(
        name=name, builder=builder, folder=folder, host="experiments.echo.echo_program"
    )
    return _program(name=name, title=title, native_service=program)


SYSTEMS = (
    _in_python(
        name="echo-asyncio",
        title=message("asyncio (Python)"),
        service="experiments.echo.python_servers:EchoLoop",
    ),
    _in_python(
        name="echo-uvloop",
        title=message("uvloop (Python with libuv)"),
        service="experiments.echo.python_servers:EchoUvloop",
        requirements="requirements/uvloop.txt",
        request_cpu_us=40,
    ),
    _in_python(  # uses the connection cache and the worker pool of system 4
        name="echo-pool",
        title=message("selector and thread pool (Python)"),
        reads=(*ECHO_READS, "NUM_WORKERS_PER_API_SERVICE", "SELECTOR"),
        service="experiments.echo.python_servers:EchoPool",
    ),
    _hosted("echo-asio", message("Boost.Asio (C++)")),
    _hosted("echo-coroutine", message("Boost.Asio with coroutines (C++)")),
    _hosted("echo-libuv", message("libuv (C)")),
    _hosted("echo-netty", message("Netty (Java)"), builder="maven", folder="echo/netty"),
    _program(
        name="echo-tokio",
        title=message("tokio (Rust)"),
        native_service=Program(name="echo-tokio", arguments=("--child",)),
        supports_hosts=True,
    ),
)
