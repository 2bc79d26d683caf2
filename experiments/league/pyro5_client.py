"""A client of Pyro5: a proxy of the daemon's one object. Source: pyro5.readthedocs.io/en/latest/clientcode.html"""

from typing import cast

import Pyro5.api
import Pyro5.errors

from clients.callers import kept
from clients.channel import CallFailed

OBJECT = "calculator"


class PyroChannel:
    """One connection. A proxy belongs to the thread that made it; the thread that asks takes it over."""

    def __init__(self, address: str) -> None:
        place = f"./u:{address}" if address.startswith("/") else address
        Pyro5.api.config.SOCK_NODELAY = not address.startswith("/")
        self._proxy = Pyro5.api.Proxy(f"PYRO:{OBJECT}@{place}")
        try:
            self._proxy._pyroBind()
        except Pyro5.errors.PyroError as error:
            raise CallFailed("connect") from error

    def ask(self, message: bytes) -> bytes:
        """Call the object's method. Raises CallFailed."""
        self._proxy._pyroClaimOwnership()
        try:
            return cast(str, self._proxy.answer(message.decode())).encode()
        except Pyro5.errors.CommunicationError as error:
            raise CallFailed("closed") from error
        except Exception as error:  # an error of the service arrives as one of its own type
            raise CallFailed("garbled") from error

    def close(self) -> None:
        """Close the connection."""
        self._proxy._pyroClaimOwnership()
        self._proxy._pyroRelease()


caller = kept(PyroChannel)
