"""What lies between two machines: the network with its round-trip times and transfer rate, and the
offset of their clocks.

lab/hosts/cluster.py calls listen() on the services' host and reach() on another host, and
lab/hosts/place.py own_address(). They run there in the worker, so they need the standard library
alone. Nothing is measured at that time.
lab/hosts/connection.py asks another host for its time, and estimates the offset before and after
the clients send. On this machine alone, the offset is SAME_CLOCK. All times are of CLOCK_MONOTONIC
(perf_counter_ns).
"""

import socket
import threading
import time
from contextlib import suppress
from typing import NamedTuple

# for each operation on a socket
LINK_DEADLINE_S = 10.0
# round trips of one byte, before the transfer
ROUNDS = 100
# size of the transfer, from which the rate is computed
BULK_BYTES = 8 << 20
# size of one write or read of the transfer
PIECE_BYTES = 1 << 16
ROUTED = ("192.0.2.1", 9)  # an address of the default route: RFC 5737. Nothing is sent to it.


# ---- the network ---------------------------------------------------------------------------------


def listen(address: str, peer: str) -> int:
    """Listen for one connection of *peer*, which measures the link with reach(). Return the port.

    A thread accepts the connection, and answers each piece of data with one byte.
    """
    listener = socket.create_server((address, 0))
    listener.settimeout(LINK_DEADLINE_S)
    threading.Thread(target=_serve, args=(listener, peer), daemon=True).start()
    return int(listener.getsockname()[1])


def _serve(listener: socket.socket, peer: str) -> None:
    with suppress(OSError), listener:
        connection, (address, *_) = listener.accept()
        with connection:
            connection.settimeout(LINK_DEADLINE_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while address == peer and connection.recv(PIECE_BYTES):
                connection.sendall(b".")


def reach(address: str, port: int, source: str) -> dict[str, int]:
    """Measure round-trip times and bytes per second from *source* to a listener at *address*.
    Raises OSError.

    source: this host's address, which listen() got as *peer*
    Return a record.result_parts.Link: round-trip times in ns, and the rate of data from this host,
    until the listener has read all.
    """
    trips = []
    with socket.create_connection((address, port), LINK_DEADLINE_S, (source, 0)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(ROUNDS):
            start_ns = time.perf_counter_ns()
            connection.sendall(b".")
            if not connection.recv(1):
                # 104 is ECONNRESET on Linux: the listener closes a connection of another address
                raise ConnectionResetError(
                    104, "the other host refused the source address of this connection"
                )
            trips.append(time.perf_counter_ns() - start_ns)
        start_ns = time.perf_counter_ns()
        for _ in range(BULK_BYTES // PIECE_BYTES):
            connection.sendall(bytes(PIECE_BYTES))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(PIECE_BYTES):
            pass
        spent_ns = time.perf_counter_ns() - start_ns
    rate = round(BULK_BYTES * 1e9 / max(1, spent_ns))
    return {"least_ns": min(trips), "median_ns": sorted(trips)[ROUNDS // 2], "bytes_per_s": rate}


def own_address() -> str:
    """Return this machine's address on its default route; "" if it has none."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(ROUTED)
        return str(probe.getsockname()[0])
    return ""


# ---- the clocks ----------------------------------------------------------------------------------


class ClockOffset(NamedTuple):
    """Another host's clock minus this host's clock, with an error of at most *error_ns*."""

    offset_ns: int
    error_ns: int

    def to_host_clock(self, here_ns: int) -> int:
        """Convert a time on this host's clock to the other host's clock."""
        return here_ns + self.offset_ns


SAME_CLOCK = ClockOffset(offset_ns=0, error_ns=0)


def estimate(sent_ns: int, there_ns: int, back_ns: int) -> ClockOffset:
    """Estimate the clock offset, assuming that the other clock was read in the middle of the round
    trip.

    sent_ns: when the question was sent; there_ns: the other clock's time; back_ns: when the answer
        came
    Source: RFC 5905, section 8.
    """
    return ClockOffset(
        offset_ns=there_ns - (sent_ns + back_ns) // 2, error_ns=(back_ns - sent_ns + 1) // 2
    )


def between(before: ClockOffset, after: ClockOffset) -> ClockOffset:
    """Return the mean of two estimates of the clock offset, with an error that includes the drift
    of the clocks.
    """
    drift_ns = after.offset_ns - before.offset_ns
    return ClockOffset(
        offset_ns=before.offset_ns + drift_ns // 2,
        error_ns=max(before.error_ns, after.error_ns) + (abs(drift_ns) + 1) // 2,
    )
