"""Declare system 1: a service with a single socket, and a new connection for every request."""

from core.messages import message
from core.system import FRESH, Program, System

SYSTEM = System(
    number="1",
    name="fresh",
    title=message("Single socket, no connection cache"),
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service="services.threaded:threaded_service",
    caller="clients.callers:fresh_caller",
    message="clients.channel:framed_message",
    native_service=Program(name="calc-service", arguments=("--child", "--fresh")),
    native_client=FRESH,
    supports_hosts=True,
    request_cpu_us=110,
)
