"""An HTTP client that uses requests: each session has one connection of urllib3's pool."""

from collections.abc import Iterator
from functools import partial
from http.client import IncompleteRead, RemoteDisconnected

import requests

from clients.channel import CallFailed
from experiments.http_clients.threads import ThreadClient

_CODES: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (ConnectionRefusedError, "connect"),
    (RemoteDisconnected, "closed"),
    (IncompleteRead, "closed"),
    (ConnectionResetError, "reset"),
    (BrokenPipeError, "reset"),
)


class RequestsConnection:
    """A connection with its own requests.Session, which connects at the first request and reconnects if closed."""

    __slots__ = ("_deadline_s", "_session", "_url")

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._url = f"http://{host}:{port}/"
        self._deadline_s = deadline_s
        self._session = requests.Session()
        self._session.trust_env = False

    def get(self) -> tuple[int, int]:
        """Send GET /, and return status and body length of the response. Raises CallFailed."""
        try:
            response = self._session.get(self._url, timeout=self._deadline_s)
            return response.status_code, len(response.content)
        except requests.RequestException as error:
            raise CallFailed(_code(error)) from error

    def close(self) -> None:
        """Close the connection."""
        self._session.close()


def _code(error: requests.RequestException) -> str:
    """Return the error code of the innermost known cause, because requests and urllib3 wrap exceptions."""
    causes = tuple(_causes(error, set()))
    return next((code for kind, code in _CODES for cause in causes if isinstance(cause, kind)), "garbled")


def _causes(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    for cause in (error.__cause__, error.__context__, *error.args):
        if isinstance(cause, BaseException):
            yield from _causes(cause, seen)


client = partial(ThreadClient, RequestsConnection)
