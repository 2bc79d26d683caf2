"""An echo server with the connection cache and the worker pool of gilscope's own services
(services/threaded.py).

echo_systems.py names EchoPool. CachedService calls _connection() for each new connection and
_server() for each worker; the function that _server() returns runs for each message.
"""

import socket
from collections.abc import Callable
from socket import MSG_DONTWAIT
from typing import Any

from services.listeners import Listener
from services.service_connection import READ_BYTES, Connection, set_options
from services.threaded import CachedService, WorkerCount


class EchoPool(CachedService):
    """A service in which one worker at a time sends back all data that has arrived on
    a connection.
    """

    def counters(self) -> dict[str, Any]:
        """Return the number of echoed messages, in total and by worker, computed from the echoed
        bytes.
        """
        counted = super().counters()
        echoed_bytes = counted["requests"]
        by_worker = [number // self._cell.message_bytes for number in counted["requests_by_worker"]]
        return {
            "requests": echoed_bytes // self._cell.message_bytes,
            "echoed_bytes": echoed_bytes,
            "requests_by_worker": by_worker,
        }

    def _connection(self, sock: socket.socket, listener: Listener) -> Connection:
        connection = Connection(sock, listener)
        set_options(sock, self._cell.nodelay, self._cell.buffer_bytes)
        return connection

    def _server(self, worker: WorkerCount) -> Callable[[Connection], bool]:
        def serve(connection: Connection) -> bool:
            data = self._arrived(connection)
            if data is None:
                return self._drop(connection)
            worker.requests += len(
                data
            )  # in bytes, see counters(); before sending, because a reset may follow
            connection.send(data)
            return not connection.unsent or self._flush(connection)

        return serve

    def _arrived(self, connection: Connection) -> bytes | None:
        try:
            return connection.sock.recv(READ_BYTES, MSG_DONTWAIT) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None
