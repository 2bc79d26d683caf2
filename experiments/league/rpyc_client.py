"""A client of RPyC: a connection, and its root's exposed method.

Source: rpyc.readthedocs.io/en/latest/api/utils_factory.html
"""

from typing import cast

import rpyc
from rpyc.utils.factory import unix_connect

from clients.callers import kept
from clients.channel import CallFailed


class RpycChannel:
    """One connection; the method is looked up once, as its documentation advises for what is called often."""

    def __init__(self, address: str) -> None:
        try:
            self._connection = unix_connect(address) if address.startswith("/") else _connect_tcp(address)
            self._answer = self._connection.root.answer
        except (OSError, EOFError) as error:
            raise CallFailed("connect") from error

    def ask(self, message: bytes) -> bytes:
        """Call the exposed method. Raises CallFailed."""
        try:
            return cast(bytes, self._answer(message))
        except EOFError as error:
            raise CallFailed("closed") from error
        except Exception as error:  # an error of the service arrives as one of its own type
            raise CallFailed("garbled") from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _connect_tcp(address: str) -> rpyc.Connection:
    host, _, port = address.rpartition(":")
    return rpyc.connect(host, int(port))


caller = kept(RpycChannel)
