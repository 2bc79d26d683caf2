"""The services of systems 1, 2 and 4: a pool of worker threads behind one or more sockets.

In system 1, an acceptor passes each connection to the workers. A worker reads one request, answers
it and closes the connection. Systems 2 and 4 have a cache of connections. Every worker waits for
readable sockets, either on one watch with all others or on its own (DISPATCH). Each readable
connection goes to one worker, which reads one request, answers it and returns the connection to the
watch.

The services follow the protocol Service (core/system.py). What runs for each request on the
workers' threads, such as what _server() returns, must have no locks and no shared counters, except
the queue of system 1. experiments/echo/python_servers.py replaces _connection(), _server() and
counters().
"""

import socket
import threading
from collections import Counter
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic

from core.cell import Cell
from core.messages import Json
from core.wire import frame
from core.work import answer
from services.listeners import Listener, listen
from services.loops import dispatch_of
from services.service_connection import Connection, ParkedConnections
from services.watch import is_readable

# before the service accepts again, if it has no free file descriptor
OUT_OF_FILES_PAUSE_S = 0.05
# delay before a connection over the limit is refused, because another may just have closed
SECOND_LOOK_S = 0.01
# from when a connection is first set aside until its whole request must have come
READ_DEADLINE_S = 5.0
# how long a worker waits for a request to begin before it sets the connection aside; most clients
# send right after connecting
PATIENCE_MS = 50


class WorkerCount:
    """The request counter of one worker thread. No other thread writes the counter."""

    __slots__ = ("requests",)

    def __init__(self) -> None:
        self.requests = 0


class PooledService:
    """A service with a pool of worker threads. A subclass has _work(), which each worker runs for
    ever.
    """

    def __init__(self, cell: Cell, service_id: int, folder: str) -> None:
        self.listeners = listen(cell, service_id, folder)
        self._cell = cell
        self._workers = [WorkerCount() for _ in range(cell.num_workers_per_api_service)]
        self._parked = ParkedConnections()

    def start(self) -> None:
        """Start the worker threads."""
        for number in range(len(self._workers)):
            threading.Thread(target=self._begin, args=(number,), daemon=True).start()

    def counters(self) -> Json:
        """Return the number of answered requests, in total and by worker."""
        by_worker = [worker.requests for worker in self._workers]
        return {"requests": sum(by_worker), "requests_by_worker": by_worker}

    def reset(self) -> None:
        """Set the workers' request counters to zero."""
        for worker in self._workers:
            worker.requests = 0

    def _begin(self, number: int) -> None:
        """Run the worker thread *number*. It creates its counter itself, so that workers share no
        cache lines.
        """
        worker = self._workers[number] = WorkerCount()
        self._work(number, worker)

    def _work(self, number: int, worker: WorkerCount) -> None:
        raise NotImplementedError


class FreshService(PooledService):
    """The service of system 1, which answers one request per connection. A client has
    READ_DEADLINE_S to send the whole request.
    """

    def __init__(self, cell: Cell, service_id: int, folder: str) -> None:
        super().__init__(cell, service_id, folder)
        self._accepted: SimpleQueue[Connection] = SimpleQueue()
        self._pause = threading.Event()

    def start(self) -> None:
        """Start the worker threads and the thread that accepts connections."""
        super().start()
        threading.Thread(target=self._accept, name="acceptor", daemon=True).start()

    def _work(self, number: int, worker: WorkerCount) -> None:
        take = self._accepted.get
        while True:
            connection = take()
            bodies = connection.receive()
            if (
                bodies == []
                and self._has_time_for(connection)
                and is_readable(connection.fd, PATIENCE_MS)
            ):
                bodies = connection.receive()
            if bodies is None:
                connection.close()
            elif bodies:  # only the first: system 1 answers one request per connection
                self._answer(connection, bodies[0], worker)
            elif connection.frames.refused_bytes is not None:
                connection.refuse_frame()
                self._parked.close(connection)
            else:
                self._set_aside(connection)

    def _has_time_for(self, connection: Connection) -> bool:
        """Return whether a worker may wait for a new connection's request, because no other
        connection needs a worker.

        A connection is new if its client has sent nothing and the connection was never set aside.
        """
        return connection.until is None and not connection.frames.partial and self._accepted.empty()

    def _answer(self, connection: Connection, body: bytes, worker: WorkerCount) -> None:
        reply = frame(answer(body))
        worker.requests += (
            1  # before sending, because this process may be stopped after its last answer
        )
        connection.send(reply)
        if connection.unsent:
            self._parked.close(connection)
        else:
            connection.close()

    def _set_aside(self, connection: Connection) -> None:
        if connection.until is None:
            connection.until = monotonic() + READ_DEADLINE_S
        self._parked.wait_for_request(connection, connection.until, self._accepted.put)

    def _accept(self) -> None:
        listener = self.listeners[0]
        accept, hand_over = listener.sock.accept, self._accepted.put
        while True:
            try:
                hand_over(Connection(accept()[0], listener))
            except ConnectionAbortedError:
                continue
            except OSError:  # no file descriptor is free until workers close connections
                self._pause.wait(OUT_OF_FILES_PAUSE_S)


class CachedService(PooledService):
    """The service of systems 2 and 4, which keeps its connections. One over NUM_MAX_CONNS is
    answered with 503 and closed.
    """

    def __init__(self, cell: Cell, service_id: int, folder: str) -> None:
        super().__init__(cell, service_id, folder)
        self._dispatch = dispatch_of(cell)
        self._max_conns = cell.num_max_conns
        self._listening = {listener.sock.fileno(): listener for listener in self.listeners}
        self._cache: dict[int, Connection] = {}
        self._admitting = threading.Lock()
        self._closed: list[tuple[str, int]] = []

    def start(self) -> None:
        """Start the worker threads, then make them wait for connections on the listening
        sockets.
        """
        super().start()
        for fd, listener in self._listening.items():
            listener.sock.setblocking(False)
            self._dispatch.add(fd)

    def counters(self) -> Json:
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
        return {
            **super().counters(),
            "requests_by_socket": list(by_socket.values()),
            "connections_by_requests": Counter(str(requests) for _, requests in ended),
        }

    def reset(self) -> None:
        """Set the counters of workers and connections to zero."""
        super().reset()
        for connection in self._cache.copy().values():
            connection.requests = 0
        self._closed.clear()

    def _work(self, number: int, worker: WorkerCount) -> None:
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
            sock, _ = listener.sock.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return True  # another worker took the connection, or the peer gave up
        except OSError:  # no file descriptor is free; try again after a pause
            self._dispatch.pause(fd)
            self._parked.later(OUT_OF_FILES_PAUSE_S, lambda: self._dispatch.resume(fd))
            return False
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
