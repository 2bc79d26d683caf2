"""System 2: a single socket and a cache of connections, which clients reuse or do not."""

from collections.abc import Callable

from clients.cached import CachedCaller
from clients.channel import FramedChannel, framed_message
from clients.fresh import FreshCaller
from clients.native import FRAMED
from core.cell import Cell
from core.system import Caller, Program, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.cached import CachedService
    from services.listeners import listen
    from services.watch import make_watch

    return CachedService(
        listen(cell, service_id, folder),
        make_watch(cell.selector),
        cell.num_workers_per_api_service,
        cell.num_max_conns,
    )


def _caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
    kind = CachedCaller if cell.reuse_client else FreshCaller
    return kind(FramedChannel, addresses[0], connect_ns)


SYSTEM = System(
    number="2",
    name="cached",
    title="Single socket, connection cache",
    reads=("NUM_WORKERS_PER_API_SERVICE", "NUM_MAX_CONNS", "REUSE_CLIENT", "SELECTOR", "TRANSPORT"),
    service=_service,
    caller=_caller,
    message=framed_message,
    native_service=Program(name="calc-service", arguments=("--child",)),
    native_client=FRAMED,
    request_cpu_us=65,
)
