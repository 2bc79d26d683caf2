"""TLS connections to a user's service. Clients without TLS do not import ssl, because ssl would add to their memory."""

import socket
from collections.abc import Mapping
from typing import Any

from clients.channel import CallFailed

FAILED = "tls"
HTTP1, HTTP2 = "http/1.1", "h2"  # names of ALPN


class Tls:
    """The TLS settings of a client's connections.

    ca: a file of trusted certificates, or "" for those of the system
    """

    def __init__(self, settings: Mapping[str, Any], protocol: str = HTTP1) -> None:
        """Make the TLS settings of a client.

        protocol: what the service must agree to by ALPN if it is not HTTP/1.1
        """
        import ssl

        self._quiet = ssl.SSLWantReadError
        try:
            self._context = ssl.create_default_context(cafile=settings["ca"] or None)
        except OSError as error:
            raise CallFailed(FAILED, f"{settings['ca']}: {error}") from None
        self._protocol = protocol
        self._context.set_alpn_protocols([protocol])
        if settings["insecure"]:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE

    def secured(self, sock: socket.socket, address: str) -> socket.socket:
        """Do the TLS handshake on *sock*. Return the TLS socket. Raises CallFailed with the reason."""
        host = "localhost" if address.startswith("/") else address.rpartition(":")[0].strip("[]")
        try:
            secured = self._context.wrap_socket(sock, server_hostname=host)
        except OSError as error:
            sock.close()
            raise CallFailed(FAILED, str(error)) from error
        if self._protocol not in (HTTP1, secured.selected_alpn_protocol()):
            secured.close()
            raise CallFailed(FAILED, f"the service did not choose {self._protocol} by ALPN")
        return secured

    def is_quiet(self, error: OSError) -> bool:
        """Return whether *error* only means that a TLS record without application data was read."""
        return isinstance(error, self._quiet)
