"""An HTTP client that uses requests: each session has one connection of urllib3's pool.

http_systems.py names client(). Its parts are in threads.py (the loop), and workers.py (Library and
UrlConnection). The file's own name does not hide the library, because imports are absolute.
"""

from functools import partial
from http.client import IncompleteRead, RemoteDisconnected
from typing import Any

import requests

from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import Codes, Library, UrlConnection

CODES: Codes = {
    TimeoutError: "timeout",
    ConnectionRefusedError: "connect",
    RemoteDisconnected: "closed",
    IncompleteRead: "closed",
    ConnectionResetError: "reset",
    BrokenPipeError: "reset",
}


def _session(deadline_s: float) -> requests.Session:
    """Return a session, which has no deadline of its own."""
    session = requests.Session()
    session.trust_env = False  # no proxies and passwords of the user
    return session


class RequestsConnection(UrlConnection):
    """A connection with its own requests.Session, which connects at the first request and
    reconnects if closed.
    """

    __slots__ = ()

    def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response."""
        response = self._client.get(self._url, timeout=self._deadline_s)
        return response.status_code, len(response.content)


def _code(error: Exception) -> str:
    """Return the error code of the innermost known cause, because requests and urllib3 wrap
    exceptions.
    """
    causes: list[Any] = [error]
    # causes grows while it is read
    for cause in causes:
        nested = (cause.__cause__, cause.__context__, *cause.args)
        causes += [one for one in nested if isinstance(one, BaseException) and one not in causes]
    return next(
        (code for kind, code in CODES.items() for cause in causes if isinstance(cause, kind)),
        "garbled",
    )


client = partial(
    ThreadClient,
    Library(partial(RequestsConnection, _session), (requests.RequestException,), _code),
)
