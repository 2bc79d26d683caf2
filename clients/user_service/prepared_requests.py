"""Prepare the requests of a plan for a user's service, count their answers, and schedule bursts of
requests.
"""

import threading
from contextlib import suppress
from time import perf_counter_ns
from typing import Any

from clients.channel import CallFailed
from clients.schedule import NEVER_NS
from clients.tally import MOST, Tally
from core.request_plan import Request, Wrong, wrong

BURST = 16


class PreparedRequest:
    """An encoded request, and the last correct answer to it: an answer with the same bytes needs no
    second check.
    """

    __slots__ = ("_right", "request", "sent")

    def __init__(self, request: Request, sent: bytes) -> None:
        self.request = request
        self.sent = sent
        self._right: bytes | None = None

    def wrong(self, status: int, body: bytes, head: bytes) -> Wrong | None:
        """Compare an answer with the expected one. Return the difference, or None if the answer is
        right.
        """
        if status == self.request.expect_status and body == self._right:
            return None
        difference = wrong(self.request, status, body, head)
        if difference is None:
            self._right = body
        return difference


class PlanTally(Tally):
    """The counts of a worker that sends the requests of a plan.

    resent: requests that were sent again, because the service had closed a kept connection
    reconnects: how often an answer came on another connection than the answer before it
    connection: the connection on which the last answer came
    """

    __slots__ = ("connection", "reconnects", "resent")

    def __init__(self, service_id: int = 0, slowest: int = MOST) -> None:
        super().__init__(service_id, slowest)
        self.resent = self.reconnects = 0
        self.connection: object = None

    def clear(self) -> None:
        """Set all counts to zero, except the count of connects."""
        super().clear()
        self.resent = self.reconnects = 0

    def check(
        self, prepared: PreparedRequest, status: int, difference: Wrong | None, connection: object
    ) -> None:
        """Count one answer, which came on *connection*."""
        self.answered += 1
        if connection is not self.connection:
            self.reconnects += self.connection is not None
            self.connection = connection
        if difference is None:
            return
        if status == prepared.request.expect_status:
            self.wrong += 1
        else:
            self.errors[str(status)] += 1
        self.keep_wrong(str(prepared.request), difference.got, difference.expected)

    def fail(self, prepared: PreparedRequest, failed: CallFailed) -> None:
        """Count a request that got no usable answer."""
        self.errors[failed.code] += 1
        if failed.reason:
            self.keep_wrong(str(prepared.request), failed.reason, "an answer")

    def merge(self, other: "PlanTally") -> None:  # type: ignore[override]
        """Add the counts of *other* to the counts of this object."""
        super().merge(other)
        self.resent += other.resent
        self.reconnects += other.reconnects

    def to_result(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        """Return the counts for a client's result line."""
        reuse = {"reconnects": self.reconnects, "resent": self.resent}
        return super().to_result(started_ns, finished_ns) | reuse


class Bursts:
    """A schedule of bursts: each connection sends BURST requests, and then waits until all
    connections have done so.

    If a connection is delayed, the others wait for it until *until_ns*.
    """

    __slots__ = ("_barrier", "_until_ns")
    waits = True

    def __init__(self, barrier: threading.Barrier, until_ns: int) -> None:
        self._barrier = barrier
        self._until_ns = until_ns

    def wait(self, number: int, until_ns: int = NEVER_NS) -> int:
        """Wait for all connections before the first request of a burst. Return 0, so the request is
        sent at once.
        """
        if number % BURST == 0:
            with suppress(threading.BrokenBarrierError):
                self._barrier.wait(max(0.0, (self._until_ns - perf_counter_ns()) / 1e9))
        return 0
