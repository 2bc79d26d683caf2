"""An HTTP client that uses aiohttp."""

from functools import partial

import aiohttp

from clients.channel import CallFailed
from experiments.http_clients.tasks import TaskClient


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
        """Send GET /, and return status and body length of the response. Raises CallFailed."""
        try:
            async with self._session.get(self._url) as response:
                return response.status, len(await response.read())
        except (TimeoutError, aiohttp.ClientError) as error:
            raise CallFailed(_code(error)) from error

    async def close(self) -> None:
        """Close the connection."""
        await self._session.close()


def _code(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "connect"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError):
        return "closed"
    return "reset" if isinstance(error, aiohttp.ClientOSError) else "garbled"


client = partial(TaskClient, AiohttpConnection)
