"""`multiprocessing.connection`: a Listener, and a thread for each Connection.

Its framing is ours, and nothing is unpickled. recv_bytes closes a connection that announces too much, without an
answer: there is no 413.
Source: docs.python.org/3/library/multiprocessing.html#module-multiprocessing.connection
"""

import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.connection import Listener as ConnectionListener

from core.cell import Cell
from core.wire import MAX_FRAME_BYTES
from core.work import answer
from experiments.league.hosted import BoundAddress, Counts, HostedService, tcp_address, unix_path
from services.listeners import BACKLOG, Reach


def connection_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The service of *cell*, listening on a Unix socket or on a free port of the loopback interface."""
    counts, path = Counts(), unix_path(cell, service_id, folder)
    listener = ConnectionListener(path or (Reach.address, 0), "AF_UNIX" if path else "AF_INET", BACKLOG)
    address = listener.address if path else tcp_address(listener.address[1])
    return HostedService(BoundAddress(str(address)), lambda: _accept(listener, counts), counts)


def _accept(listener: ConnectionListener, counts: Counts) -> None:
    while True:
        connection = listener.accept()
        if Reach.admits(listener.last_accepted):
            threading.Thread(target=_serve, args=(connection, counts), daemon=True).start()
        else:
            connection.close()


def _serve(connection: Connection, counts: Counts) -> None:
    with connection, suppress(EOFError, OSError):
        while True:
            reply = answer(connection.recv_bytes(MAX_FRAME_BYTES))
            counts.add()
            connection.send_bytes(reply)
