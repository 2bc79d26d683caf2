"""HTTP clients that use the extension reqwestclient: Rust's reqwest, blocking without the GIL or for asyncio."""

from functools import partial
from typing import Any

import reqwestclient

from core.system import Client
from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import Library


class ReqwestConnection:
    """A connection with its own reqwest::blocking::Client and I/O thread. It connects at the first request."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = reqwestclient.BlockingClient(deadline_s)

    def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        answer: tuple[int, int] = self._client.get(self._url)
        return answer

    def close(self) -> None:
        """Drop the client, which closes its connection."""
        del self._client


class ReqwestAsyncConnection:
    """A connection with its own reqwest::Client that connects at the first request. Clients share one Tokio runtime."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = reqwestclient.AsyncClient(deadline_s)

    async def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        answer: tuple[int, int] = await self._client.get(self._url)
        return answer

    async def close(self) -> None:
        """Drop the client, which closes its connection."""
        del self._client


client = partial(ThreadClient, Library(ReqwestConnection, (reqwestclient.Failed,)))


def async_client(*of_cell: Any) -> Client:
    """Return a TaskClient. It is imported here, so that a client with threads does not load asyncio."""
    from experiments.http_clients.tasks import TaskClient

    return TaskClient(Library(ReqwestAsyncConnection, (reqwestclient.Failed,)), *of_cell)
