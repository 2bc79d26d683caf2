"""HTTP clients that use httpx: its blocking client, and its client for asyncio."""

from functools import partial
from typing import Any

import httpx

from core.system import Client
from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import Codes, Library, code_of


def _options(deadline_s: float) -> dict[str, object]:
    return {"timeout": deadline_s, "trust_env": False, "limits": httpx.Limits(max_connections=1)}


class HttpxConnection:
    """A connection with its own httpx.Client, which connects at the first request."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = httpx.Client(**_options(deadline_s))

    def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        response = self._client.get(self._url)
        return response.status_code, len(response.content)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


class HttpxAsyncConnection:
    """A connection with its own httpx.AsyncClient, which connects at the first request."""

    __slots__ = ("_client", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._client = httpx.AsyncClient(**_options(deadline_s))

    async def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        response = await self._client.get(self._url)
        return response.status_code, len(response.content)

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()


CODES: Codes = {httpx.TimeoutException: "timeout", httpx.ConnectError: "connect", httpx.NetworkError: "reset"}


def _code(error: Exception) -> str:
    # httpx has one class for invalid HTTP and for a closed connection. Only the text distinguishes them.
    is_closed = "disconnected" in str(error) or "closed" in str(error)
    return code_of(CODES, error, "closed" if is_closed else "garbled")


client = partial(ThreadClient, Library(HttpxConnection, (httpx.HTTPError,), _code))


def async_client(*of_cell: Any) -> Client:
    """Return a TaskClient. It is imported here, so that a client with threads does not load asyncio."""
    from experiments.http_clients.tasks import TaskClient

    return TaskClient(Library(HttpxAsyncConnection, (httpx.HTTPError,), _code), *of_cell)
