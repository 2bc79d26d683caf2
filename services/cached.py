"""The service of systems 2 and 4: a cache of connections and a pool of workers behind one or more
listening sockets.

Every worker waits for readable sockets, either on one watch with all others or on its own
(DISPATCH). Each readable connection goes to one worker, which reads one request, answers it and
returns the connection to the watch.

CachedService follows the protocol Service (core/system.py). What _server() returns runs for each
request on the workers' threads: no locks and no shared counters there.
experiments/echo/python_servers.py replaces _connection(), _server() and counters().
"""

import socket
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from core.cell import Cell
from core.wire import frame
from core.work import answer
from services.listeners import Listener, listen
from services.loops import Dispatch, dispatch_of
from services.parked import ParkedConnections
from services.service_connection import Connection
from services.watch import accept_or_none

# before the service accepts again, if it has no free file descriptor
OUT_OF_FILES_PAUSE_S = 0.05
# delay before a connection over the limit is refused, because another may just have closed
SECOND_LOOK_S = 0.01


class WorkerCount:
    """The request counter of one worker thread. No other thread writes the counter."""

    __slots__ = ("requests",)

    def __init__(self) -> None:
        self.requests = 0


class CachedService:
    """A service with cached connections and a pool of workers.

    max_conns: most connections at one time, or None; an additional connection is answered with 503
        and closed
    """

    def __init__(
        self, listeners: list[Listener], dispatch: Dispatch, workers: int, max_conns: int | None
    ) -> None:
        self.listeners = listeners
        self._dispatch = dispatch
        self._workers = [WorkerCount() for _ in range(workers)]
        self._max_conns = max_conns
        self._listening = {listener.sock.fileno(): listener for listener in listeners}
        self._cache: dict[int, Connection] = {}
        self._admitting = threading.Lock()
        self._closed: list[tuple[str, int]] = []
        self._parked = ParkedConnections()

    def start(self) -> None:
        """Start the worker threads, then make them wait for connections on the
        listening sockets.
        """
        for number in range(len(self._workers)):
            threading.Thread(target=self._work, args=(number,), daemon=True).start()
        for fd, listener in self._listening.items():
            listener.sock.setblocking(False)
            self._dispatch.add(fd)

    def counters(self) -> dict[str, Any]:
        """Return the number of answered requests: total, by worker, by socket, and a histogram over
        connections.
        """
        held = self._cache.copy()  # copying is atomic, and workers may change the cache meanwhile
        ended = self._closed.copy() + [
            (connection.listener.address, connection.requests) for connection in held.values()
        ]
        by_socket = dict.fromkeys((listener.address for listener in self.listeners), 0)
        for address, requests in ended:
            by_socket[address] += requests
        by_worker = [worker.requests for worker in self._workers]
        return {
            "requests": sum(by_worker),
            "requests_by_worker": by_worker,
            "requests_by_socket": list(by_socket.values()),
            "connections_by_requests": Counter(str(requests) for _, requests in ended),
        }

    def reset(self) -> None:
        """Set the counters of workers and connections to zero."""
        for worker in self._workers:
            worker.requests = 0
        for connection in self._cache.copy().values():
            connection.requests = 0
        self._closed.clear()

    def _work(self, number: int) -> None:
        """Run the worker thread *number*. It creates its counter itself, so that workers share no
        cache lines.
        """
        worker = self._workers[number] = WorkerCount()
        connection_of, serve = self._cache.get, self._server(worker)

        def serve_any(fd: int) -> bool:
            connection = connection_of(fd)
            return self._accept(self._listening[fd]) if connection is None else serve(connection)

        self._dispatch.run(number, serve_any)

    def _server(self, worker: WorkerCount) -> Callable[[Connection], bool]:
        """Return the function that *worker* calls with each readable connection."""

        def serve(connection: Connection) -> bool:
            """Answer the requests that have arrived. Return whether to wait for more requests on
            *connection*.
            """
            bodies = connection.receive()
            if bodies is None:
                return self._drop(connection)
            for body in bodies:
                reply = frame(answer(body))
                connection.requests += (
                    1  # before sending, because this process may be stopped after its last answer
                )
                worker.requests += 1
                connection.send(reply)
            if connection.frames.refused_bytes is not None:
                return self._refuse(connection)
            return not connection.unsent or self._flush(connection)

        return serve

    def _refuse(self, connection: Connection) -> bool:
        self._forget(connection)
        connection.refuse_frame()
        self._parked.close(connection)
        return False

    def _flush(self, connection: Connection) -> bool:
        self._dispatch.pause(connection.fd)
        self._parked.flush(connection, lambda ready: self._dispatch.resume(ready.fd))
        return False

    def _accept(self, listener: Listener) -> bool:
        fd = listener.sock.fileno()
        try:
            sock = accept_or_none(listener.sock)
        except OSError:  # no file descriptor is free; try again after a pause
            self._dispatch.pause(fd)
            self._parked.later(OUT_OF_FILES_PAUSE_S, lambda: self._dispatch.resume(fd))
            return False
        if sock is not None:
            connection = self._connection(sock, listener)
            if not self._admit(connection):
                self._parked.later(SECOND_LOOK_S, lambda: self._admit_or_refuse(connection))
        return True

    def _connection(self, sock: socket.socket, listener: Listener) -> Connection:
        return Connection(sock, listener)

    def _admit(self, connection: Connection) -> bool:
        with self._admitting:
            if self._max_conns is not None and len(self._cache) >= self._max_conns:
                return False
            if not self._dispatch.holds(connection.fd):
                return False
            self._cache[connection.fd] = connection
        self._dispatch.add(connection.fd)
        return True

    def _admit_or_refuse(self, connection: Connection) -> None:
        if not self._admit(connection):
            connection.refuse(503, f"the connection cache is full: {len(self._cache)} connections")
            self._parked.close(connection)

    def _drop(self, connection: Connection) -> bool:
        self._forget(connection)
        connection.close()
        return False

    def _forget(self, connection: Connection) -> None:
        self._dispatch.forget(connection.fd)
        del self._cache[connection.fd]
        self._closed.append((connection.listener.address, connection.requests))


def single_socket_service(cell: Cell, service_id: int, folder: str) -> CachedService:
    """Create a service with one listening socket and a connection cache (system 2), as *cell*
    configures it.
    """
    return _service(cell, listen(cell, service_id, folder))


def multi_socket_service(cell: Cell, service_id: int, folder: str) -> CachedService:
    """Create a service with several listening sockets and a connection cache (system 4), as *cell*
    configures it.
    """
    return _service(cell, listen(cell, service_id, folder, cell.num_multi_socket))


def _service(cell: Cell, listeners: list[Listener]) -> CachedService:
    return CachedService(
        listeners, dispatch_of(cell), cell.num_workers_per_api_service, cell.num_max_conns
    )
