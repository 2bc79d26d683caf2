"""An HTTP client that uses aiohttp.

http_systems.py names client(). Its parts are in tasks.py (the loop), and workers.py (Library and
UrlConnection). The file's own name does not hide the library, because imports are absolute.
"""

from functools import partial

import aiohttp

from experiments.http_clients.tasks import TaskClient
from experiments.http_clients.workers import Codes, Library, UrlConnection, code_of


def _session(deadline_s: float) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=1), timeout=aiohttp.ClientTimeout(total=deadline_s)
    )


class AiohttpConnection(UrlConnection):
    """A connection with its own aiohttp.ClientSession, which connects at the first request.

    If the server has closed a kept connection, aiohttp repeats the request once on a new
    connection.
    """

    __slots__ = ()

    async def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        async with self._client.get(self._url) as response:
            return response.status, len(await response.read())


CODES: Codes = {  # the first class that fits decides, so subclasses come first
    TimeoutError: "timeout",
    aiohttp.ClientConnectorError: "connect",
    aiohttp.ServerDisconnectedError: "closed",
    aiohttp.ClientPayloadError: "closed",
    aiohttp.ClientOSError: "reset",
}
failures = (TimeoutError, aiohttp.ClientError)
client = partial(
    TaskClient, Library(partial(AiohttpConnection, _session), failures, partial(code_of, CODES))
)
