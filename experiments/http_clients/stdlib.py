"""An HTTP client that uses the standard library's http.client.

http_systems.py names client(). Its parts are in threads.py (the loop), and workers.py (Library and
the protocol Connection).
"""

from functools import partial
from http.client import HTTPConnection, HTTPException, IncompleteRead, RemoteDisconnected

from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import Codes, Library, code_of


class StdlibConnection:
    """A connection with an http.client.HTTPConnection, which sets TCP_NODELAY."""

    __slots__ = ("_connection",)

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._connection = HTTPConnection(host, port, timeout=deadline_s)
        self._connection.connect()

    def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        self._connection.request("GET", "/")
        response = self._connection.getresponse()
        return response.status, len(response.read())

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


CODES: Codes = {  # the first class that fits decides, so OSError is last
    ConnectionRefusedError: "connect",
    TimeoutError: "timeout",
    RemoteDisconnected: "closed",
    IncompleteRead: "closed",
    OSError: "reset",
}
failures = (OSError, HTTPException, ValueError)
client = partial(ThreadClient, Library(StdlibConnection, failures, partial(code_of, CODES)))
