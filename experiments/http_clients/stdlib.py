"""An HTTP client that uses the standard library's http.client."""

from functools import partial
from http.client import HTTPConnection, HTTPException, IncompleteRead, RemoteDisconnected

from clients.channel import CallFailed
from experiments.http_clients.threads import ThreadClient


class StdlibConnection:
    """A connection with an http.client.HTTPConnection, which sets TCP_NODELAY."""

    __slots__ = ("_connection",)

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._connection = HTTPConnection(host, port, timeout=deadline_s)
        try:
            self._connection.connect()
        except OSError as error:
            raise CallFailed("connect") from error

    def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response. Raises CallFailed."""
        try:
            self._connection.request("GET", "/")
            response = self._connection.getresponse()
            return response.status, len(response.read())
        except TimeoutError as error:
            raise CallFailed("timeout") from error
        except (RemoteDisconnected, IncompleteRead) as error:
            raise CallFailed("closed") from error
        except OSError as error:
            raise CallFailed("reset") from error
        except (HTTPException, ValueError) as error:
            raise CallFailed("garbled") from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


client = partial(ThreadClient, StdlibConnection)
