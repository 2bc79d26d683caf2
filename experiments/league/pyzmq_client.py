"""A client of ZeroMQ: a DEALER socket, which sends the empty frame that a REP socket wants before the request.

Source: zguide.zeromq.org/docs/chapter3/#The-DEALER-Socket
"""

from importlib import import_module
from typing import Any, cast

from clients.callers import kept
from clients.channel import CallFailed

zmq: Any = import_module("zmq")  # not typed: checks must not depend on whether it is installed


class ZmqChannel:
    """One socket of the process's context. It is handed from thread to thread and never used by two."""

    def __init__(self, address: str) -> None:
        self._socket = zmq.Context.instance().socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.connect(f"ipc://{address}" if address.startswith("/") else f"tcp://{address}")

    def ask(self, message: bytes) -> bytes:
        """Send the request; the answer. Raises CallFailed."""
        try:
            self._socket.send_multipart((b"", message))
            _, body = self._socket.recv_multipart()
        except (zmq.ZMQError, ValueError) as error:
            raise CallFailed("garbled") from error
        return cast(bytes, body)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


caller = kept(ZmqChannel)
