"""HTTP clients for the extension package beastclient. Each client uses another module of the package.

A process imports only one of these modules.
"""

from functools import partial
from importlib import import_module
from typing import Any

from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import Library


def _client(module: str, *of_cell: Any) -> ThreadClient:
    """Return a client whose threads use beastclient.<module>. Each of these modules has its own exception class."""
    extension = import_module(f"beastclient.{module}")
    return ThreadClient(Library(extension.Connection, (extension.Failed,)), *of_cell)


held = partial(_client, "held")
released = partial(_client, "released")
undeclared = partial(_client, "undeclared")
undeclared_released = partial(_client, "undeclared_released")
