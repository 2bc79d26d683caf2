"""Counts of the answers that a client received, from services of gilscope or in a protocol of the user's own."""

from typing import Any

from clients.channel import CallFailed
from clients.own_protocol import OwnProtocol
from clients.tally import MOST, Tally
from core.child import TIMEOUT
from core.histogram import Histogram
from core.work import Refused, decode


class CallTally(Tally):
    """The counts of the answers that a client received from the calculation endpoint /calc.

    expected: the `msg` of a right answer
    is_stuck: whether a request has timed out, after which no other is sent
    waiting: time from sending a request until its handler began, for one request in PROBE_EVERY
    """

    __slots__ = ("_expected", "calc_ns", "is_stuck", "waiting")

    def __init__(self, service_id: int = 0, slowest: int = MOST, expected: str = "") -> None:
        super().__init__(service_id, slowest)
        self._expected = expected
        self.is_stuck = False
        self.calc_ns = 0
        self.waiting = Histogram()

    def clear(self) -> None:
        """Set all counts to zero, including the count of connects."""
        super().clear()
        self.calc_ns = 0
        self.connect.clear()
        self.waiting.clear()

    def merge(self, other: "CallTally") -> None:  # type: ignore[override]
        """Add the counts of *other* to the counts of this object."""
        super().merge(other)
        self.calc_ns += other.calc_ns
        self.waiting.merge(other.waiting)

    def fail(self, number: int, failed: CallFailed) -> None:
        """Count the request *number*, which got no usable answer."""
        self.errors[failed.code] += 1
        self.is_stuck = failed.code == TIMEOUT
        if failed.reason:
            self.keep_wrong(f"request {number}", failed.reason, "a whole answer")

    def check(self, body: Any, number: int, sent_ns: int) -> bool:
        """Count the answer to request *number*, which was sent at *sent_ns*. Return whether the answer is right."""
        self.answered += 1
        try:
            answer = decode(body)
            code = answer["code"]
            if code == 200 and answer["msg"] == self._expected:
                self.calc_ns += answer["calc_ns"]
                if "begun_ns" in answer:
                    self.waiting.record(max(0, answer["begun_ns"] - sent_ns))
                return True
        except (Refused, KeyError, TypeError):
            self.errors["garbled"] += 1
            return False
        if code == 200:
            self.wrong += 1
        else:
            self.errors[str(code)] += 1
        return False

    def to_result(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        """Return the client's counts. The key `waiting` is missing if no answer says when its handler began."""
        waiting = {"waiting": self.waiting.to_json()} if self.waiting.count else {}
        return super().to_result(started_ns, finished_ns) | {"calc_ns": self.calc_ns} | waiting


class OwnTally(CallTally):
    """The counts of the answers in a protocol of the user's own."""

    __slots__ = ("_protocol",)

    def __init__(self, protocol: OwnProtocol, service_id: int, slowest: int) -> None:
        super().__init__(service_id, slowest)
        self._protocol = protocol

    def check(self, body: Any, number: int, sent_ns: int) -> bool:
        """Count the answer to request *number*. Return whether the answer is right."""
        self.answered += 1
        if fault := self._protocol.fault(body, number):
            self.wrong += 1
            self.keep_wrong(f"request {number}", fault, "an answer that check() accepts")
        return not fault
