"""A service and client with ZeroMQ: a ROUTER for clients, and a DEALER for NUM_WORKERS_PER_API_SERVICE worker threads.

As in "Multithreading with ZeroMQ" of the guide, each worker has a REP socket over inproc, and zmq.proxy connects both
sides. A client is a DEALER socket, which sends the empty frame that a REP socket needs before the request.
Sources: zguide.zeromq.org/docs/chapter2/#Multithreading-with-ZeroMQ, .../chapter3/#The-DEALER-Socket
"""

import threading
from importlib import import_module
from typing import Any, cast

from clients.callers import cached_caller
from clients.channel import CallFailed
from core.cell import Cell
from core.work import answer
from experiments.league.hosted import Counts, HostedService, bound, unix_path
from services.listeners import BACKLOG, LOOPBACK

zmq: Any = import_module("zmq")  # untyped, so that type checks do not depend on whether it is installed
WORKERS = "inproc://workers"


def zmq_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell*. It listens on a Unix socket or on a free loopback port."""
    path = unix_path(cell, service_id, folder)
    counts, context = Counts(), zmq.Context()
    front, back = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
    front.setsockopt(zmq.BACKLOG, BACKLOG)
    port = front.bind(f"ipc://{path}") if path else front.bind_to_random_port(f"tcp://{LOOPBACK}")
    back.bind(WORKERS)

    def run() -> None:
        for _ in range(cell.num_workers_per_api_service):
            threading.Thread(target=_work, args=(context, counts), daemon=True).start()
        zmq.proxy(front, back)

    return HostedService(bound(path, port), run, counts)


def _work(context: Any, counts: Counts) -> None:
    socket = context.socket(zmq.REP)
    socket.connect(WORKERS)
    receive, send = socket.recv, socket.send
    while True:
        reply = answer(receive())
        counts.add()
        send(reply)


class ZmqChannel:
    """A channel with a socket of the process's ZeroMQ context. Only one thread uses the channel at a time."""

    def __init__(self, address: str) -> None:
        self._socket = zmq.Context.instance().socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.connect(f"ipc://{address}" if address.startswith("/") else f"tcp://{address}")

    def ask(self, message: bytes) -> bytes:
        """Send the request, and return the answer. Raises CallFailed."""
        try:
            self._socket.send_multipart((b"", message))
            _, body = self._socket.recv_multipart()
        except (zmq.ZMQError, ValueError) as error:
            raise CallFailed("garbled") from error
        return cast(bytes, body)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


caller = cached_caller(ZmqChannel)
