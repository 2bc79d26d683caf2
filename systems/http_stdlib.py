"""HTTP client row: the standard library's http.client on threads."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.cell import Cell
from core.method import Method
from core.system import Client, System


def _client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
    from clients.http_stdlib import StdlibConnection
    from clients.http_threads import ThreadClient

    return ThreadClient(StdlibConnection, cell, client_id, addresses, method)


SYSTEM = System(
    name="http-stdlib",
    title="Python http.client",
    group=GROUP,
    common=COMMON,
    reads=READS,
    client=_client,
    native_service=SERVER,
    request_cpu_us=150,
)
