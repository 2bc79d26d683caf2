"""Declare system 4: a service with several sockets, one cache of connections and one pool of workers."""

from core.messages import message
from core.system import FRAMED, Program, System

SYSTEM = System(
    number="4",
    name="pool",
    title=message("Several sockets, connection cache"),
    reads=(
        "NUM_WORKERS_PER_API_SERVICE",
        "NUM_MULTI_SOCKET",
        "NUM_MAX_CONNS",
        "SELECT_MODE",
        "CLIENT_BINDING",
        "SELECTOR",
        "DISPATCH",
        "TRANSPORT",
    ),
    service="services.cached:multi_socket_service",
    caller="clients.callers:pool_caller",
    message="clients.channel:framed_message",
    native_service=Program(name="calc-service", arguments=("--child",)),
    native_client=FRAMED,
    supports_hosts=True,
    request_cpu_us=70,
)
