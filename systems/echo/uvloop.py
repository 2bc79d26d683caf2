"""Echo server with uvloop: services/echo_loop.py under the event loop of services/echo_uvloop.py."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, System

SYSTEM = System(
    name="echo-uvloop",
    title=message("uvloop (Python over libuv)"),
    group="echo",
    common=SIZES,
    reads=ECHO_READS,
    service="services.echo_loop:uvloop_service",
    native_client=ECHO,
    requirements="requirements/uvloop.txt",
    spreads=True,
    request_cpu_us=40,
)
