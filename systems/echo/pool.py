"""Echo server with the connection cache and the worker pool of system 4: services/echo_pool.py."""

from clients.native import ECHO, ECHO_READS
from core.messages import message
from core.system import SIZES, System

SYSTEM = System(
    name="echo-pool",
    title=message("selector and thread pool (Python)"),
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_WORKERS_PER_API_SERVICE", "SELECTOR"),
    service="services.echo_pool:echo_service",
    native_client=ECHO,
    spreads=True,
    request_cpu_us=60,
)
