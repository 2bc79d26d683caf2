"""TLS connections to a user's service. Clients without TLS do not import ssl, which would add to their memory."""

import socket
from collections.abc import Mapping
from typing import Any

from clients.channel import CallFailed

FAILED = "tls"


class Tls:
    """The TLS settings of a client's connections.

    ca: a file of trusted certificates, or "" for those of the system
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        import ssl

        self._quiet = ssl.SSLWantReadError
        try:
            self._context = ssl.create_default_context(cafile=settings["ca"] or None)
        except OSError as error:
            raise CallFailed(FAILED, f"{settings['ca']}: {error}") from None
        self._context.set_alpn_protocols(["http/1.1"])
        if settings["insecure"]:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE

    def secured(self, sock: socket.socket, address: str) -> socket.socket:
        """Do the TLS handshake on *sock*. Return the TLS socket. Raises CallFailed with the reason."""
        host = "localhost" if address.startswith("/") else address.rpartition(":")[0].strip("[]")
        try:
            return self._context.wrap_socket(sock, server_hostname=host)
        except OSError as error:
            sock.close()
            raise CallFailed(FAILED, str(error)) from error

    def is_quiet(self, error: OSError) -> bool:
        """Return whether *error* only says that a TLS record without application data was read."""
        return isinstance(error, self._quiet)
