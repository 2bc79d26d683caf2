"""Alternative: the asyncio protocol in uvloop's event loop, by a loop factory as uvloop's documentation has it.

Source: uvloop.readthedocs.io/user
"""

from clients.native import FRAMED
from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-uvloop",
    title=message("uvloop, protocol, one loop"),
    group="league",
    reads=("TRANSPORT",),
    service="services.alternatives.protocol:uvloop_service",
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_client=FRAMED,
    requirements="requirements/uvloop.txt",
    spreads=True,
    request_cpu_us=80,
)
