"""HTTP client row: as http-beast-released, but the extension does not declare that it can do without the GIL."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.cell import Cell
from core.method import Method
from core.system import Client, System


def _client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
    from clients.http_beast import connect_by
    from clients.http_threads import ThreadClient

    return ThreadClient(connect_by("undeclared_released"), cell, client_id, addresses, method)


SYSTEM = System(
    name="http-beast-undeclared-released",
    title="Python over Beast (GIL released, undeclared)",
    group=GROUP,
    common=COMMON,
    reads=READS,
    client=_client,
    native_service=SERVER,
    wheels=("beastclient",),
    turns_gil_on=True,
    request_cpu_us=60,
)
