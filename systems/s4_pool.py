"""System 4: several sockets that share one cache of connections and one pool of workers."""

from collections.abc import Callable

from clients.cached import CachedCaller
from clients.channel import FramedChannel, framed_message
from clients.native import FRAMED
from clients.pool import PoolCaller
from core.cell import Cell
from core.system import Caller, Program, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.cached import CachedService
    from services.listeners import listen
    from services.watch import make_watch

    return CachedService(
        listen(cell, service_id, folder, cell.num_multi_socket),
        make_watch(cell.selector, cell.select_mode),
        cell.num_workers_per_api_service,
        cell.num_max_conns,
    )


def _caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
    if cell.client_binding == "pinned":
        return CachedCaller(FramedChannel, addresses[client_id % len(addresses)], connect_ns)
    return PoolCaller(FramedChannel, addresses, connect_ns, seed=f"{cell.cell_id} {client_id}")


SYSTEM = System(
    number="4",
    name="pool",
    title="Multi-socket pool",
    reads=(
        "NUM_WORKERS_PER_API_SERVICE",
        "NUM_MULTI_SOCKET",
        "NUM_MAX_CONNS",
        "SELECT_MODE",
        "CLIENT_BINDING",
        "SELECTOR",
        "TRANSPORT",
    ),
    service=_service,
    caller=_caller,
    message=framed_message,
    native_service=Program(name="calc-service", arguments=("--child",)),
    native_client=FRAMED,
    request_cpu_us=70,
)
