"""oha as the client of the echo HTTP server native/http-echo: clients/peers.py runs it."""

from clients.native import LOAD_READS
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="load-oha",
    title=message("oha"),
    group="loadgen",
    common=SIZES,
    reads=LOAD_READS,
    native_service=Program(name="http-echo", arguments=("--child",)),
    native_client=Program(name="oha", arguments=("oha",)),
    spreads=True,
    request_cpu_us=25,
)
