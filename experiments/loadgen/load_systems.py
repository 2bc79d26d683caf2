"""Declare load generators that call the server native/http-echo: gilscope's own, and others that
peers.py runs.

systems/__init__.py finds SYSTEMS, and core.system.System explains the fields. Here the service is
the same in all systems, and the client is what is compared.
"""

from functools import partial

from core.messages import Message, message
from core.system import ONE_PATH, SIZES, Program, System

_generator = partial(
    System,
    group="loadgen",
    common=SIZES,
    reads=("NUM_CONNECTIONS_PER_CLIENT", "NUM_SERVER_THREADS", "KEEP_ALIVE"),
    native_service=Program(name="http-echo", arguments=("--child",)),
    supports_hosts=True,
    request_cpu_us=25,
)


def _peer(name: str, title: Message) -> System:
    """Return the load generator of another project, which peers.py runs if its program *name* is on
    PATH.
    """
    program = Program(name=name, arguments=(name,), builder="", host="experiments.loadgen.peers")
    return _generator(name=f"load-{name}", title=title, native_client=program)


SYSTEMS = (
    _generator(name="load-own", title=message("gilscope's own generator"), native_client=ONE_PATH),
    _peer("ab", message("ab (ApacheBench)")),
    _peer("oha", message("oha")),
    _peer("wrk", message("wrk")),
)
