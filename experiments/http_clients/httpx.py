"""HTTP clients that use httpx: its blocking client, and its client for asyncio."""

from collections.abc import Callable
from functools import partial

import httpx

from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import (
    ClientT,
    Codes,
    Library,
    UrlConnection,
    code_of,
    task_client,
)


def _made(kind: Callable[..., ClientT], deadline_s: float) -> ClientT:
    """Return a client of *kind* with at most one connection."""
    return kind(
        timeout=deadline_s,
        trust_env=False,
        limits=httpx.Limits(max_connections=1, keepalive_expiry=None),
    )


class HttpxConnection(UrlConnection[httpx.Client]):
    """A connection with its own httpx.Client, which connects at the first request."""

    __slots__ = ()

    def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        response = self._client.get(self._url)
        return response.status_code, len(response.content)


class HttpxAsyncConnection(UrlConnection[httpx.AsyncClient]):
    """A connection with its own httpx.AsyncClient, which connects at the first request."""

    __slots__ = ()

    async def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        response = await self._client.get(self._url)
        return response.status_code, len(response.content)

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()


CODES: Codes = {
    httpx.TimeoutException: "timeout",
    httpx.ConnectError: "connect",
    httpx.NetworkError: "reset",
}


def _code(error: Exception) -> str:
    # httpx has one class for invalid HTTP and for a closed connection. Only the text distinguishes
    # them.
    is_closed = "disconnected" in str(error) or "closed" in str(error)
    return code_of(CODES, error, "closed" if is_closed else "garbled")


client = partial(
    ThreadClient,
    Library(partial(HttpxConnection, partial(_made, httpx.Client)), (httpx.HTTPError,), _code),
)
async_client = task_client(
    Library(
        partial(HttpxAsyncConnection, partial(_made, httpx.AsyncClient)), (httpx.HTTPError,), _code
    )
)
