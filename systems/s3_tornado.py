"""System 3: Tornado on loopback TCP, keep-alive clients."""

from collections.abc import Callable

from clients.cached import CachedCaller
from clients.channel import HttpChannel, http_message
from clients.native import CALC_BY_HTTP
from core.cell import Cell
from core.system import Caller, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.listeners import listen_tcp
    from services.tornado_app import TornadoService

    return TornadoService(listen_tcp())


def _caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
    return CachedCaller(HttpChannel, addresses[0], connect_ns)


SYSTEM = System(
    number="3",
    name="tornado",
    title="Tornado",
    service=_service,
    caller=_caller,
    message=http_message,
    native_client=CALC_BY_HTTP,
    request_cpu_us=400,
    requirements="requirements/tornado.txt",
)
