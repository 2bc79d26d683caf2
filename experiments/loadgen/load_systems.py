"""Declare load generators that call the server native/http-echo: gilscope's own, and others that peers.py runs."""

from functools import partial

from clients.native import LOAD_READS, ONE_PATH
from core.messages import message
from core.system import SIZES, Program, System

_generator = partial(
    System,
    group="loadgen",
    common=SIZES,
    reads=LOAD_READS,
    native_service=Program(name="http-echo", arguments=("--child",)),
    supports_hosts=True,
    request_cpu_us=25,
)
_peer = partial(Program, builder="", host="experiments.loadgen.peers")

SYSTEMS = (
    _generator(name="load-own", title=message("gilscope's own generator"), native_client=ONE_PATH),
    _generator(name="load-ab", title=message("ab (ApacheBench)"), native_client=_peer(name="ab", arguments=("ab",))),
    _generator(name="load-hey", title=message("hey"), native_client=_peer(name="hey", arguments=("hey",))),
    _generator(name="load-oha", title=message("oha"), native_client=_peer(name="oha", arguments=("oha",))),
    _generator(name="load-wrk", title=message("wrk"), native_client=_peer(name="wrk", arguments=("wrk",))),
)
