"""A service with planted faults that `runner.py stress` must find, and a path without a fault. See docs/audit.md.

Usage: stress_service.py PORT. GET /sound, /race, /deadlock, /crash, /iteration
"""

import ctypes
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, ClassVar

TURNS = 20
LARGE = 1 << 20_000  # multiplying it takes long, and with a GIL no other thread runs meanwhile
BUFFER = ctypes.create_string_buffer(b"text")
ADDRESS = ctypes.addressof(BUFFER)


class Shared:
    """Data that all threads share."""

    taken = given = asked = 0
    first, second, lock = Lock(), Lock(), Lock()
    address = 0
    names: ClassVar[dict[int, int]] = {}


def sound() -> int:
    """Count with a lock."""
    with Shared.lock:
        for _ in range(TURNS):
            Shared.taken += 1
            Shared.given += 1
        return Shared.taken - Shared.given


def race() -> int:
    """Count without a lock. With a GIL, no thread runs between reading and writing, because nothing is called."""
    for _ in range(TURNS):
        Shared.taken = Shared.taken + 1 + 0 * (LARGE * LARGE)
        Shared.given += 1
    return Shared.taken - Shared.given


def deadlock() -> int:
    """Acquire two locks in alternating order, which can deadlock."""
    Shared.asked = turn = Shared.asked + 1
    locks = [Shared.first, Shared.second]
    with locks[turn % 2]:
        for _ in range(TURNS):
            _ = LARGE * LARGE
        with locks[1 - turn % 2]:
            return sound()


def crash() -> int:
    """Read from an address that another thread sets to 0 for a moment."""
    for _ in range(TURNS):
        Shared.address = 0
        _ = LARGE * LARGE
        Shared.address = ADDRESS
        _ = LARGE * LARGE
        ctypes.string_at(Shared.address)
    return 0


def iteration() -> int:
    """Iterate over a dictionary that other threads change."""
    for name in range(TURNS):
        Shared.names[name] = Shared.names.pop(name, 0) + 1
    for name in Shared.names:
        _ = name * LARGE * LARGE
    return 0


class Handler(BaseHTTPRequestHandler):
    """A handler that answers with the result of the fault's function, which is 0 without a fault."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    faults: ClassVar = {f"/{fault.__name__}": fault for fault in (sound, race, deadlock, crash, iteration)}

    def do_GET(self) -> None:
        """Answer with the result of the path's function."""
        body = json.dumps({"left": self.faults[self.path]()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        """Log nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 128  # for a burst of connections
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
