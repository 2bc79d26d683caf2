"""What one connection of clients/user_service/client.py sends, when, and what it counts."""

import threading
from contextlib import suppress
from time import perf_counter_ns

from clients.slowest import MOST
from clients.tally import Tally
from core.request_plan import Request, Wrong, wrong

BURST = 16


class PreparedRequest:
    """A request as bytes, and the last right answer to it: the same body need not be parsed again."""

    __slots__ = ("_right", "request", "sent")

    def __init__(self, request: Request, sent: bytes) -> None:
        self.request = request
        self.sent = sent
        self._right: bytes | None = None

    def wrong(self, status: int, body: bytes) -> Wrong | None:
        """What is wrong with an answer; None if it is right."""
        if status == self.request.expect_status and body == self._right:
            return None
        difference = wrong(self.request, status, body)
        if difference is None:
            self._right = body
        return difference


class PlanTally(Tally):
    """A tally that keeps the first wrong answer: the request, the answer and the expected answer."""

    __slots__ = ("first_wrong",)

    def __init__(self, service_id: int = 0, slowest: int = MOST) -> None:
        super().__init__(service_id, slowest)
        self.first_wrong: dict[str, str] = {}

    def check(self, prepared: PreparedRequest, status: int, body: bytes) -> bool:
        """Count one answer; whether it is right."""
        self.answered += 1
        difference = prepared.wrong(status, body)
        if difference is None:
            return True
        if status == prepared.request.expect_status:
            self.wrong += 1
        else:
            self.errors[str(status)] += 1
        if not self.first_wrong:
            self.first_wrong = {
                "request": str(prepared.request),
                "got": difference.got,
                "expected": difference.expected,
            }
        return False

    def merge(self, other: "PlanTally") -> None:  # type: ignore[override]
        """Add what *other* has counted."""
        super().merge(other)
        self.first_wrong = self.first_wrong or other.first_wrong


class Bursts:
    """When a connection sends that strikes together with others: BURST requests, each after the last, then all anew.

    Where one is held up, the others wait for it until *until_ns*.
    """

    __slots__ = ("_barrier", "_until_ns")
    waits = True

    def __init__(self, barrier: threading.Barrier, until_ns: int) -> None:
        self._barrier = barrier
        self._until_ns = until_ns

    def wait(self, number: int) -> int:
        """Wait until all are there, before the first request of a burst; 0 for now."""
        if number % BURST == 0:
            with suppress(threading.BrokenBarrierError):
                self._barrier.wait(max(0.0, (self._until_ns - perf_counter_ns()) / 1e9))
        return 0
