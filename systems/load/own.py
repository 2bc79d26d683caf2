"""The load generator of this project, native/loadgen, against the echo HTTP server native/http-echo."""

from clients.native import LOAD_READS, ONE_PATH
from core.messages import message
from core.system import SIZES, Program, System

SYSTEM = System(
    name="load-own",
    title=message("gilscope's own generator"),
    group="loadgen",
    common=SIZES,
    reads=LOAD_READS,
    native_service=Program(name="http-echo", arguments=("--child",)),
    native_client=ONE_PATH,
    spreads=True,
    request_cpu_us=25,
)
