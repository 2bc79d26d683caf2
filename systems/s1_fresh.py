"""System 1: a single socket, a connection for every request."""

from collections.abc import Callable

from clients.channel import FramedChannel, framed_message
from clients.fresh import FreshCaller
from clients.native import FRESH
from core.cell import Cell
from core.system import Caller, Program, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.listeners import listen
    from services.threaded import ThreadedService

    return ThreadedService(listen(cell, service_id, folder)[0], cell.num_workers_per_api_service)


def _caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
    return FreshCaller(FramedChannel, addresses[0], connect_ns)


SYSTEM = System(
    number="1",
    name="fresh",
    title="Single socket, no connection cache",
    reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
    service=_service,
    caller=_caller,
    message=framed_message,
    native_service=Program(name="calc-service", arguments=("--child", "--fresh")),
    native_client=FRESH,
    request_cpu_us=110,
)
