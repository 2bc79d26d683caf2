"""HTTP client row: httpx's client for asyncio."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.cell import Cell
from core.method import Method
from core.system import Client, System


def _client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
    from clients.http_httpx import HttpxAsyncConnection
    from clients.http_tasks import TaskClient

    return TaskClient(HttpxAsyncConnection, cell, client_id, addresses, method)


SYSTEM = System(
    name="http-httpx-async",
    title="Python httpx (asyncio)",
    group=GROUP,
    common=COMMON,
    reads=READS,
    client=_client,
    native_service=SERVER,
    requirements="requirements-httpx.txt",
    request_cpu_us=800,
)
