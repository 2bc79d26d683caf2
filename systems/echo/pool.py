"""Echo server with the connection cache and the worker pool of system 4: services/echo_pool.py."""

from clients.native import ECHO, ECHO_READS
from core.cell import Cell
from core.system import SIZES, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.echo_pool import EchoPool
    from services.listeners import listen
    from services.watch import make_watch

    return EchoPool(listen(cell, service_id, folder), make_watch(cell.selector), cell)


SYSTEM = System(
    name="echo-pool",
    title="selector and thread pool (Python)",
    group="echo",
    common=SIZES,
    reads=(*ECHO_READS, "NUM_WORKERS_PER_API_SERVICE", "SELECTOR"),
    service=_service,
    native_client=ECHO,
    request_cpu_us=60,
)
