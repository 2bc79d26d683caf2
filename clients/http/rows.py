"""What all rows of the HTTP experiment have in common: the server, the parameters that they read, how clients start.

The orchestrator reads this module, so a library is imported only when a client is made, in the measured process.
"""

from importlib import import_module

from core.cell import Cell
from core.method import Method
from core.system import SIZES, Client, ClientFactory, Program, System

READS = ("NUM_CONNECTIONS_PER_CLIENT", "DELAY_US", "NUM_SERVER_THREADS")
SERVER = Program(name="axum-server", arguments=("--child",))
ROW = System(name="http", title="HTTP", group="http-clients", common=SIZES, reads=READS, native_service=SERVER)


def threads(module: str, connection: str) -> ClientFactory:
    """Workers that are threads: each has a *connection*, a class of clients.http.<module>."""

    def client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
        from clients.http.threads import ThreadClient

        return ThreadClient(_class(module, connection), cell, client_id, addresses, method)

    return client


def tasks(module: str, connection: str) -> ClientFactory:
    """Workers that are tasks of one event loop: each has a *connection*, a class of clients.http.<module>."""

    def client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
        from clients.http.tasks import TaskClient

        return TaskClient(_class(module, connection), cell, client_id, addresses, method)

    return client


def beast(module: str) -> ClientFactory:
    """Workers that are threads with the connections of beastclient.<module>, whose own errors they catch."""

    def client(cell: Cell, client_id: int, addresses: list[list[str]], method: Method) -> Client:
        from clients.http.threads import ThreadClient

        built = import_module(f"beastclient.{module}")
        return ThreadClient(built.Connection, cell, client_id, addresses, method, failure=built.Failed)

    return client


def _class(module: str, name: str) -> type:
    found: type = getattr(import_module(f"clients.http.{module}"), name)
    return found
