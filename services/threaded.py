"""The service of system 1: one listening socket and no connection cache.

An acceptor passes each connection to a pool of workers. A worker reads one request, answers it and
closes the connection.

ThreadedService follows the protocol Service (core/system.py). _work() and _answer() run for each
request on the workers' threads, which share only the queue of connections.
"""

import threading
from queue import SimpleQueue
from time import monotonic
from typing import Any

from core.cell import Cell
from core.wire import frame
from core.work import answer
from services.cached import OUT_OF_FILES_PAUSE_S, WorkerCount
from services.listeners import Listener, listen
from services.parked import ParkedConnections
from services.service_connection import Connection
from services.watch import is_readable

# from when a connection is first set aside until its whole request must have come
READ_DEADLINE_S = 5.0
# how long a worker waits for a request to begin before it sets the connection aside; most clients
# send right after connecting
PATIENCE_MS = 50


class ThreadedService:
    """A service that answers one request per connection. A client has READ_DEADLINE_S to send the
    whole request.
    """

    def __init__(self, listener: Listener, workers: int) -> None:
        self.listeners = [listener]
        self._workers = [WorkerCount() for _ in range(workers)]
        self._accepted: SimpleQueue[Connection] = SimpleQueue()
        self._parked = ParkedConnections()
        self._pause = threading.Event()

    def start(self) -> None:
        """Start the worker threads and the thread that accepts connections."""
        for worker in self._workers:
            threading.Thread(target=self._work, args=(worker,), daemon=True).start()
        threading.Thread(target=self._accept, name="acceptor", daemon=True).start()

    def counters(self) -> dict[str, Any]:
        """Return the number of answered requests, in total and by worker."""
        by_worker = [worker.requests for worker in self._workers]
        return {"requests": sum(by_worker), "requests_by_worker": by_worker}

    def reset(self) -> None:
        """Set the workers' request counters to zero."""
        for worker in self._workers:
            worker.requests = 0

    def _work(self, worker: WorkerCount) -> None:
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


def threaded_service(cell: Cell, service_id: int, folder: str) -> ThreadedService:
    """Create a service with one listening socket and no connection cache (system 1), as *cell*
    configures it.
    """
    return ThreadedService(listen(cell, service_id, folder)[0], cell.num_workers_per_api_service)
