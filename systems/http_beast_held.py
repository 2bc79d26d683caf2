"""HTTP client row: Boost.Beast by the extension beastclient, which holds the GIL through its I/O."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.cell import Cell
from core.method import Method
from core.system import Client, System


def _client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
    from clients.http_beast import connect_by
    from clients.http_threads import ThreadClient

    return ThreadClient(connect_by("held"), cell, client_id, addresses, method)


SYSTEM = System(
    name="http-beast-held",
    title="Python over Beast (GIL held)",
    group=GROUP,
    common=COMMON,
    reads=READS,
    client=_client,
    native_service=SERVER,
    wheels=("beastclient",),
    request_cpu_us=60,
)
