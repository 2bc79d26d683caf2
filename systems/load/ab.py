"""ab (ApacheBench) as the client of the echo HTTP server native/http-echo: clients/peers.py runs it."""

from clients.native import LOAD_READS
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="load-ab",
    title=message("ab (ApacheBench)"),
    group="loadgen",
    common=SIZES,
    reads=LOAD_READS,
    native_service=Program(name="http-echo", arguments=("--child",)),
    native_client=Program(name="ab", arguments=("ab",)),
    spreads=True,
    request_cpu_us=25,
)
