"""A lock is held while the answer of somebody else is waited for: `Upstream.ask`."""

import socket
import threading
import time

from server import serve


class Upstream:
    """One connection, and one lock around all that is done with it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection, far_end = socket.socketpair()
        threading.Thread(target=_answer, args=(far_end,), daemon=True).start()

    def ask(self) -> bytes:
        """The answer, some milliseconds later."""
        with self.lock:
            self.connection.sendall(b"?")
            return self.connection.recv(1)


def _answer(far_end: socket.socket) -> None:
    while far_end.recv(1):
        time.sleep(0.003)
        far_end.sendall(b"!")


UPSTREAM = Upstream()

if __name__ == "__main__":
    serve(UPSTREAM.ask)
