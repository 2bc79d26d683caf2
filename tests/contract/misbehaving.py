"""A service that keeps the child contract and breaks the protocol: `python -m tests.contract.misbehaving MODE`.

Runs under the measured runtimes: standard library, 3.11 syntax. Serves one connection at a time on a Unix socket.
"""

import json
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable

GOOD_ANSWERS = 5


def _read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _framed(code: int, msg: str) -> bytes:
    body = json.dumps({"code": code, "msg": msg, "err": "", "calc_ns": 0}).encode()
    return struct.pack("!i", len(body)) + body


def _wrong(number: int, target: int) -> bytes:
    return _framed(200, str(target + 1))


def _refusing(number: int, target: int) -> bytes:
    return _framed(500, "")


def _garbled(number: int, target: int) -> bytes:
    return struct.pack("!i", 4) + b"\xff{]["


def _twice(number: int, target: int) -> bytes:
    return _framed(200, str(target)) * 2


def _oversize(number: int, target: int) -> bytes:
    return struct.pack("!i", 2**30) + b"x"


def _closing(number: int, target: int) -> bytes:
    return _framed(200, str(target)) if number <= GOOD_ANSWERS else b""


def _dying(number: int, target: int) -> bytes:
    if number > GOOD_ANSWERS:
        sys.stderr.write("no more answers from me\n")
        sys.stderr.flush()
        os._exit(7)
    return _framed(200, str(target))


def _mute(number: int, target: int) -> bytes:
    threading.Event().wait()
    return b""


MODES: dict[str, Callable[[int, int], bytes]] = {
    "wrong": _wrong,
    "refusing": _refusing,
    "garbled": _garbled,
    "twice": _twice,
    "oversize": _oversize,
    "closing": _closing,
    "dying": _dying,
    "mute": _mute,
}


def _serve(listener: socket.socket, answer: Callable[[int, int], bytes]) -> None:
    number = 0
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                while True:
                    (size,) = struct.unpack("!i", _read(connection, 4))
                    target = json.loads(_read(connection, size))["params"]["target"]
                    number += 1
                    said = answer(number, target)
                    if not said:
                        break
                    connection.sendall(said)
            except (EOFError, OSError):
                continue


def main(mode: str) -> None:
    """Serve until end of file on stdin."""
    told = json.loads(sys.stdin.readline())
    address = os.path.join(told["folder"], "misbehaving")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    threading.Thread(target=_serve, args=(listener, MODES[mode]), daemon=True).start()
    print(json.dumps({"ready": True, "pid": os.getpid(), "addresses": [address], "runtime": {}}), flush=True)
    sys.stdin.read()
    gil_enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    usage = dict.fromkeys(
        ("cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches", "max_rss_bytes"), 0
    )
    states = {"gil_enabled_ready": gil_enabled, "gil_enabled_end": gil_enabled}
    print(json.dumps({"result": {"requests": 0, **usage, **states}}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
