"""TLS to a user's service. Only clients with TLS import this module, because ssl adds to their
memory.
"""

import socket
import ssl
from collections.abc import Mapping
from typing import Any

from clients.channel import CallFailed
from core.child import TIMEOUT

TLS_FAILED = "tls"  # code of an error (docs/child-contract.md)
HTTP1, H2 = "http/1.1", "h2"  # names of ALPN


class Tls:
    """The TLS settings of a client's connections.

    ca: a file of trusted certificates, or "" for those of the system
    quiet: the error of reading if a TLS record without application data came
    """

    quiet = ssl.SSLWantReadError

    def __init__(self, settings: Mapping[str, Any], protocol: str = HTTP1) -> None:
        """Make the TLS settings of a client.

        settings: `ca` and `insecure`, as in core.user_service.Command.tls
        protocol: what the service must agree to by ALPN if it is not HTTP/1.1
        Raises CallFailed if the file `ca` cannot be read.
        """
        try:
            self._context = ssl.create_default_context(cafile=settings["ca"] or None)
        except OSError as error:
            raise CallFailed(TLS_FAILED, f"{settings['ca']}: {error}") from None
        self._protocol = protocol
        self._context.set_alpn_protocols([protocol])
        if settings["insecure"]:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE

    def secured(self, sock: socket.socket, address: str) -> socket.socket:
        """Do the TLS handshake on *sock*. Return the TLS socket, which now owns it. On an error,
        close it and raise CallFailed with the reason.
        """
        host = "localhost" if address.startswith("/") else address.rpartition(":")[0].strip("[]")
        try:
            secured = self._context.wrap_socket(sock, server_hostname=host)
        except OSError as error:
            sock.close()
            code = TIMEOUT if isinstance(error, TimeoutError) else TLS_FAILED
            raise CallFailed(code, str(error)) from error
        if self._protocol not in (HTTP1, secured.selected_alpn_protocol()):
            secured.close()
            raise CallFailed(TLS_FAILED, f"the service did not choose {self._protocol} by ALPN")
        return secured
