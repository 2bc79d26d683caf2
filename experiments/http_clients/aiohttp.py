"""An HTTP client that uses aiohttp."""

from functools import partial

import aiohttp

from experiments.http_clients.tasks import TaskClient
from experiments.http_clients.workers import Codes, Library, code_of


class AiohttpConnection:
    """A connection with its own aiohttp.ClientSession, which connects at the first request.

    If the server has closed a kept connection, aiohttp repeats the request once on a new connection.
    """

    __slots__ = ("_session", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=1), timeout=aiohttp.ClientTimeout(total=deadline_s)
        )

    async def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        async with self._session.get(self._url) as response:
            return response.status, len(await response.read())

    async def close(self) -> None:
        """Close the connection."""
        await self._session.close()


CODES: Codes = {
    TimeoutError: "timeout",
    aiohttp.ClientConnectorError: "connect",
    aiohttp.ServerDisconnectedError: "closed",
    aiohttp.ClientPayloadError: "closed",
    aiohttp.ClientOSError: "reset",
}
failures = (TimeoutError, aiohttp.ClientError)
client = partial(TaskClient, Library(AiohttpConnection, failures, partial(code_of, CODES)))
