"""HTTP client row: Rust's reqwest, blocking, by the extension reqwestclient."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.cell import Cell
from core.method import Method
from core.system import Client, System


def _client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
    from clients.http_pyreqwest import ReqwestConnection
    from clients.http_threads import ThreadClient

    return ThreadClient(ReqwestConnection, cell, client_id, addresses, method)


SYSTEM = System(
    name="http-pyreqwest",
    title="Python over reqwest (blocking)",
    group=GROUP,
    common=COMMON,
    reads=READS,
    client=_client,
    native_service=SERVER,
    wheels=("reqwestclient",),
    request_cpu_us=150,
)
