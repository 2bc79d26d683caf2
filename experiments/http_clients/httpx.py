"""Connections by httpx: its blocking client, and the one for asyncio."""

from functools import partial
from typing import Any

import httpx

from clients.channel import CallFailed
from core.system import Client
from experiments.http_clients.threads import ThreadClient


def _options(deadline_s: float) -> dict[str, object]:
    return {"timeout": deadline_s, "trust_env": False, "limits": httpx.Limits(max_connections=1)}


class HttpxConnection:
    """One httpx.Client of one connection, which connects at its first request."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = httpx.Client(**_options(deadline_s))

    def get(self) -> tuple[int, int]:
        """GET /: status and length of the body. Raises CallFailed."""
        try:
            response = self._client.get(self._url)
        except httpx.HTTPError as error:
            raise CallFailed(_code(error)) from error
        return response.status_code, len(response.content)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


class HttpxAsyncConnection:
    """One httpx.AsyncClient of one connection, which connects at its first request."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = httpx.AsyncClient(**_options(deadline_s))

    async def get(self) -> tuple[int, int]:
        """GET /: status and length of the body. Raises CallFailed."""
        try:
            response = await self._client.get(self._url)
        except httpx.HTTPError as error:
            raise CallFailed(_code(error)) from error
        return response.status_code, len(response.content)

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()


def _code(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "timeout"
    if isinstance(error, httpx.ConnectError):
        return "connect"
    if isinstance(error, httpx.NetworkError):
        return "reset"
    # One class for bytes that are no HTTP and for a server that has gone; only the text tells them apart.
    return "closed" if "disconnected" in str(error) or "closed" in str(error) else "garbled"


client = partial(ThreadClient, HttpxConnection)


def async_client(*of_cell: Any) -> Client:
    """A TaskClient; a client with threads does not load asyncio."""
    from experiments.http_clients.tasks import TaskClient

    return TaskClient(HttpxAsyncConnection, *of_cell)
