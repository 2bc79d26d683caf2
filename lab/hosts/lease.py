"""Ends the agent when the connection to the runner is lost. In timed windows, SSH's TCP segments show that it works.

In a window only `ssh` sends: keep-alive messages, which sshd answers. No other process on this host wakes up for them.
"""

import os
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import NoReturn

from lab.hosts.protocol import LEASE_S, SESSION

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, INET_DIAG_INFO = 4, 20, 2
NO_COOKIE = 0xFFFFFFFF
MESSAGE_BYTES, ANSWER_BYTES = 16, 72  # nlmsghdr and inet_diag_msg
SEGMENTS_IN = 140  # tcpi_segs_in of struct tcp_info
ANSWER_S = 1.0
LOOK_S = 1.0


class Lease:
    """A lease that ends this process when the runner has ended or cannot be reached.

    A frame of the runner, or a TCP segment from its host, renews the lease. If segments cannot be counted, an
    announced silence also keeps the lease.
    """

    def __init__(self) -> None:
        self._heard_s, self._silent_until_s = time.monotonic(), 0.0
        threading.Thread(target=self._watch, name="lease", daemon=True).start()

    def renew(self, silence_s: float = 0.0) -> None:
        """Renew the agent's lease, so that the agent keeps running.

        silence_s: announced time in which the runner may send nothing
        """
        self._heard_s = time.monotonic()
        self._silent_until_s = self._heard_s + silence_s

    def _watch(self) -> NoReturn:
        pause, segments = threading.Event(), segments_heard()
        while time.monotonic() - self._heard_s < LEASE_S:
            pause.wait(LOOK_S)
            before, segments = segments, segments_heard()
            is_silent = segments is None and time.monotonic() < self._silent_until_s
            if is_silent or segments != before:
                self._heard_s = time.monotonic()
        os._exit(4)


def segments_heard() -> int | None:
    """Return how many TCP segments the SSH session has received; None if the number is unknown.

    Source: sock_diag(7), and struct tcp_info in linux/tcp.h.
    """
    with suppress(OSError, ValueError, AttributeError, struct.error):
        there, there_port, here, here_port = os.environ.get(SESSION, "").split()
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as netlink:
            netlink.settimeout(ANSWER_S)
            netlink.send(_question(here, int(here_port), there, int(there_port)))
            return _segments(netlink.recv(1 << 14))
    return None


def _question(here: str, here_port: int, there: str, there_port: int) -> bytes:
    family = socket.AF_INET6 if ":" in here else socket.AF_INET
    addresses = b"".join(socket.inet_pton(family, address).ljust(16, b"\0") for address in (here, there))
    socket_id = struct.pack("!HH", here_port, there_port) + addresses + struct.pack("=III", 0, NO_COOKIE, NO_COOKIE)
    body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0, NO_COOKIE) + socket_id
    return struct.pack("=IHHII", MESSAGE_BYTES + len(body), SOCK_DIAG_BY_FAMILY, 1, 0, 0) + body


def _segments(answer: bytes) -> int | None:
    """Parse the number of received TCP segments from the kernel's answer. Raises struct.error if it is malformed."""
    size, kind = struct.unpack_from("=IH", answer)
    at = MESSAGE_BYTES + ANSWER_BYTES
    while kind == SOCK_DIAG_BY_FAMILY and at < size:
        length, attribute = struct.unpack_from("=HH", answer, at)
        if attribute == INET_DIAG_INFO:
            return int(struct.unpack_from("=I", answer, at + 4 + SEGMENTS_IN)[0])
        at += max(4, length + 3 & ~3)
    return None
