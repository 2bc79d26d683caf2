"""A threaded HTTP server in few lines, for the services of this folder: a thread a connection, GET alone."""

import socket
import sys
import threading
from collections.abc import Callable


def serve(handle: Callable[[], bytes]) -> None:
    """Answer every request on the port that the command line names with handle(), until the process is ended."""
    with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128) as listener:
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_answer, args=(connection, handle), daemon=True).start()


def _answer(connection: socket.socket, handle: Callable[[], bytes]) -> None:
    with connection, connection.makefile("rb") as lines:
        while lines.readline():
            while lines.readline().strip():
                pass
            body = handle()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
