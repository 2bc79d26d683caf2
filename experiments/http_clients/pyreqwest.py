"""HTTP clients that use the extension reqwestclient: Rust's reqwest, blocking without the GIL or
for asyncio.

http_systems.py names client() and async_client(). native/reqwestclient has the extension, and
threads.py and tasks.py have the loops. Measured processes import this module.
"""

from functools import partial
from typing import Any

import reqwestclient

from clients.quotas import WorkerClient
from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import Library, UrlConnection


class ReqwestConnection(UrlConnection):
    """A connection with its own reqwest::blocking::Client and I/O thread. It connects at the first
    request.
    """

    __slots__ = ()

    def get(self) -> Any:
        """Send GET /, and return status and body length of the response."""
        return self._client.get(self._url)

    def close(self) -> Any:
        """Drop the client, which closes its connection."""
        del self._client


class ReqwestAsyncConnection(ReqwestConnection):
    """A connection with its own reqwest::Client that connects at the first request. Clients share
    one Tokio runtime.
    """

    __slots__ = ()

    async def close(self) -> None:
        """Drop the client, which closes its connection."""
        del self._client


client = partial(
    ThreadClient,
    Library(partial(ReqwestConnection, reqwestclient.BlockingClient), (reqwestclient.Failed,)),
)


def async_client(*of_cell: Any) -> WorkerClient[Any]:
    """Return the client for asyncio. The blocking client does not load asyncio, so it is imported
    late.
    """
    from experiments.http_clients.tasks import TaskClient

    connect = partial(ReqwestAsyncConnection, reqwestclient.AsyncClient)
    return TaskClient(Library(connect, (reqwestclient.Failed,)), *of_cell)
