"""Services and a client with RPyC: an exposed method that takes the request's bytes and returns the answer's bytes.

ThreadedServer has a thread for each connection, and ThreadPoolServer a pool of NUM_WORKERS_PER_API_SERVICE threads
behind a poll. Bytes are passed by value, so a call is one message in each direction. If a connection is returned to the
pool during its poll, the poll sees it only after 0.1 s (RPyC 6.0.2, Server._poll_inactive_clients). A client in a
closed loop therefore waits 0.1 s between two requests.
Sources: rpyc.readthedocs.io/en/latest/api/utils_server.html and utils_factory.html
"""

import logging
from typing import Any, cast

import rpyc
from rpyc.utils.factory import unix_connect
from rpyc.utils.server import Server, ThreadedServer, ThreadPoolServer

from clients.callers import cached_caller
from clients.channel import CallFailed
from core.cell import Cell
from core.work import answer
from experiments.league.hosted import Counts, HostedService, bound, unix_path
from services.listeners import BACKLOG, Reach, for_peers


def threaded_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell* with a thread for each connection."""
    return _hosted(ThreadedServer, unix_path(cell, service_id, folder))


def pool_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell* with a pool of NUM_WORKERS_PER_API_SERVICE threads."""
    return _hosted(ThreadPoolServer, unix_path(cell, service_id, folder), nbThreads=cell.num_workers_per_api_service)


def _hosted(kind: type[Server], path: str, **settings: int) -> HostedService:
    """Return a service with a server of *kind*, which logs nothing per connection."""
    counts = Counts()

    class Calculator(rpyc.Service):  # type: ignore[misc]
        def exposed_answer(self, body: bytes) -> bytes:
            reply = answer(body)
            counts.add()
            return reply

    logger = logging.getLogger("rpyc")
    logger.setLevel(logging.CRITICAL)
    place: dict[str, Any] = {"socket_path": path} if path else {"hostname": Reach.address, "port": 0}
    server = kind(Calculator, **place, **settings, backlog=BACKLOG, logger=logger)
    server.listener = for_peers(server.listener)
    server.listener.listen(BACKLOG)  # start() repeats this; connections wait until then
    return HostedService(bound(path, server.port), server.start, counts)


class RpycChannel:
    """A client's connection to the RPyC service.

    The service's method `answer` is looked up once, as RPyC's documentation advises for frequent calls.
    """

    def __init__(self, address: str) -> None:
        try:
            self._connection = unix_connect(address) if address.startswith("/") else _connect_tcp(address)
            self._answer = self._connection.root.answer
        except (OSError, EOFError) as error:
            raise CallFailed("connect") from error

    def ask(self, message: bytes) -> bytes:
        """Call the service's method `answer`. Raises CallFailed."""
        try:
            return cast(bytes, self._answer(message))
        except EOFError as error:
            raise CallFailed("closed") from error
        except Exception as error:  # an exception of the service is raised here with its own type
            raise CallFailed("garbled") from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _connect_tcp(address: str) -> rpyc.Connection:
    host, _, port = address.rpartition(":")
    return rpyc.connect(host, int(port))


caller = cached_caller(RpycChannel)
