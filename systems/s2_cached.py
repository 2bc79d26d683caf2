"""Declare system 2: a service with a single socket and a cache of connections, which clients may reuse."""

from core.messages import message
from core.system import FRAMED, Program, System

SYSTEM = System(
    number="2",
    name="cached",
    title=message("Single socket, connection cache"),
    reads=("NUM_WORKERS_PER_API_SERVICE", "NUM_MAX_CONNS", "REUSE_CLIENT", "SELECTOR", "DISPATCH", "TRANSPORT"),
    service="services.cached:single_socket_service",
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_service=Program(name="calc-service", arguments=("--child",)),
    native_client=FRAMED,
    supports_hosts=True,
    request_cpu_us=65,
)
