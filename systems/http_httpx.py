"""HTTP client row: httpx's blocking client on threads."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.cell import Cell
from core.method import Method
from core.system import Client, System


def _client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
    from clients.http_httpx import HttpxConnection
    from clients.http_threads import ThreadClient

    return ThreadClient(HttpxConnection, cell, client_id, addresses, method)


SYSTEM = System(
    name="http-httpx",
    title="Python httpx",
    group=GROUP,
    common=COMMON,
    reads=READS,
    client=_client,
    native_service=SERVER,
    requirements="requirements-httpx.txt",
    request_cpu_us=600,
)
