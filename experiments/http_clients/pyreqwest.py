"""Connections by the extension reqwestclient: Rust's reqwest, blocking without the GIL, and for asyncio."""

from functools import partial
from typing import Any

import reqwestclient

from clients.channel import CallFailed
from core.system import Client
from experiments.http_clients.threads import ThreadClient


class ReqwestConnection:
    """One reqwest::blocking::Client, which connects at its first request; its I/O is done by a thread of its own."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = reqwestclient.BlockingClient(deadline_s)

    def get(self) -> tuple[int, int]:
        """GET /: status and length of the body. Raises CallFailed."""
        try:
            answer: tuple[int, int] = self._client.get(self._url)
        except reqwestclient.Failed as failed:
            raise CallFailed(failed.args[0]) from failed
        return answer

    def close(self) -> None:
        """The client closes its connection when it is let go."""
        del self._client


class ReqwestAsyncConnection:
    """One reqwest::Client, which connects at its first request; all share the threads of one Tokio runtime."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = reqwestclient.AsyncClient(deadline_s)

    async def get(self) -> tuple[int, int]:
        """GET /: status and length of the body. Raises CallFailed."""
        try:
            answer: tuple[int, int] = await self._client.get(self._url)
        except reqwestclient.Failed as failed:
            raise CallFailed(failed.args[0]) from failed
        return answer

    async def close(self) -> None:
        """The client closes its connection when it is let go."""
        del self._client


client = partial(ThreadClient, ReqwestConnection)


def async_client(*of_cell: Any) -> Client:
    """A TaskClient; a client with threads does not load asyncio."""
    from experiments.http_clients.tasks import TaskClient

    return TaskClient(ReqwestAsyncConnection, *of_cell)
