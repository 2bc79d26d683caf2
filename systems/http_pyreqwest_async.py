"""HTTP client row: Rust's reqwest for asyncio, by the extension reqwestclient."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.cell import Cell
from core.method import Method
from core.system import Client, System


def _client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
    from clients.http_pyreqwest import ReqwestAsyncConnection
    from clients.http_tasks import TaskClient

    return TaskClient(ReqwestAsyncConnection, cell, client_id, addresses, method)


SYSTEM = System(
    name="http-pyreqwest-async",
    title="Python over reqwest (asyncio)",
    group=GROUP,
    common=COMMON,
    reads=READS,
    client=_client,
    native_service=SERVER,
    wheels=("reqwestclient",),
    request_cpu_us=250,
)
