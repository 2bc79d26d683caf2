"""HTTP clients for the extension package beastclient. Each client uses another module of the package.

A process imports only one of these modules.
"""

from collections.abc import Sequence
from functools import partial
from importlib import import_module

from core.cell import Cell
from core.method import Method
from experiments.http_clients.threads import ThreadClient


def _client(
    module: str, cell: Cell, client_id: int, addresses: Sequence[Sequence[str]], method: Method
) -> ThreadClient:
    """Return a client whose threads use beastclient.<module>. Each of these modules has its own exception class."""
    extension = import_module(f"beastclient.{module}")
    return ThreadClient(extension.Connection, cell, client_id, addresses, method, failure=extension.Failed)


held = partial(_client, "held")
released = partial(_client, "released")
undeclared = partial(_client, "undeclared")
undeclared_released = partial(_client, "undeclared_released")
