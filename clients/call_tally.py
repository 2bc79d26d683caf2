"""Counts of the answers that a client received, from services of gilscope or in a protocol of the
user's own.

Such a protocol is the functions encode(), decode() and check() of a System.

drive.py has a tally for each task, and calls count() and then check() between two requests of its
timed loop, or fail(). What check() gets as the answer is what the channel returned: the body, or
the pair of OwnTally.decode().
"""

from typing import Any

from clients.channel import CallFailed, shown_bytes
from clients.tally import Slowest, Tally
from core.child import AN_ANSWER, TIMEOUT
from core.histogram import Histogram
from core.messages import Json
from core.system import MORE, System
from core.work import Refused, decode


class CallTally(Tally):
    """The counts of the answers that a client received from the calculation endpoint /calc.

    expected: the `msg` of a right answer
    is_stuck: whether a request has timed out, after which no other is sent
    waiting: time from sending a request until its handler began, for one request in PROBE_EVERY
    """

    __slots__ = ("_expected", "calc_ns", "is_stuck", "waiting")

    def __init__(self, slowest: Slowest | None = None, expected: str = "") -> None:
        super().__init__(slowest)
        self._expected = expected
        self.is_stuck = False
        self.calc_ns = 0
        self.waiting = Histogram()

    def clear(self) -> None:
        """Set all counts to zero. After a timeout, is_stuck and first_wrong stay, because nothing
        more is sent and each later result counts the timeout.
        """
        first_wrong = self.first_wrong if self.is_stuck else {}
        super().clear()
        self.first_wrong = first_wrong

    def clear_answers(self) -> None:
        """Set all counts to zero, including the count of connects, but except errors."""
        super().clear_answers()
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
            self.keep_wrong(f"request {number}", failed.reason, AN_ANSWER)

    def check(self, body: Any, number: int, sent_ns: int) -> bool:
        """Count the answer to request *number*, which was sent at *sent_ns*. Return whether the
        answer is right.
        """
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

    def to_result(self, started_ns: int, finished_ns: int) -> Json:
        """Return the client's counts. The key `waiting` is missing if no answer says when its
        handler began.
        """
        waiting = {"waiting": self.waiting.to_json()} if self.waiting.count else {}
        counted = super().to_result(started_ns, finished_ns)
        return {**counted, "calc_ns": self.calc_ns, **waiting}


ANSWER_LIMIT_S = 10.0  # as for a user's service


class OwnTally(CallTally):
    """The requests of one client to one service in a protocol of the user's own, whose functions a
    System has, and the counts of their answers.
    """

    __slots__ = ("_check", "_decode", "_encode", "_sizes")

    def __init__(self, system: System, slowest: Slowest) -> None:
        super().__init__(slowest)
        assert system.encode, "systems.load_system() accepts a System only with all three functions"
        assert system.decode
        assert system.check
        self._encode, self._decode, self._check = system.encode, system.decode, system.check
        self._sizes = set[int]()

    def encode(self, number: int) -> bytes:
        """Return the bytes of the request *number*. Raises CallFailed if encode() does not."""
        try:
            message = self._encode(number)
        except Exception as error:
            raise CallFailed(
                "encode", f"no answer, because encode({number}) failed: {_short(error)}"
            ) from error
        if not isinstance(message, bytes):
            raise CallFailed(
                "encode",
                f"no answer, because encode({number}) returned {_short(message)}, not bytes",
            )
        return message

    def decode(self, buffer: bytes) -> Any:
        """Return a pair of the answer in *buffer* and *buffer* itself. Return MORE if the answer is
        not complete.

        Raises CallFailed if decode() fails, or if it finds an answer before the end of *buffer*.
        The latter is tried for one answer of each size.
        """
        answer = self._decoded(buffer)
        if answer is MORE:
            return MORE
        if len(buffer) not in self._sizes and self._decoded(buffer[:-1]) is not MORE:
            raise CallFailed(
                "extra", f"{shown_bytes(buffer)}, of which decode() needs only the first bytes"
            )
        self._sizes.add(len(buffer))
        return answer, buffer

    def _decoded(self, buffer: bytes) -> Any:
        try:
            return self._decode(buffer)
        except Exception as error:
            raise CallFailed(
                "garbled", f"{shown_bytes(buffer)}, for which decode() failed: {_short(error)}"
            ) from error

    def check(self, body: Any, number: int, sent_ns: int) -> bool:
        """Count an answer that decode() returned for the request *number*. Return whether the
        answer is right.
        """
        self.answered += 1
        decoded, buffer = body
        try:
            verdict: object = self._check(decoded, number)
        except Exception as error:
            outcome = f"failed: {_short(error)}"
        else:
            if verdict:
                return True
            outcome = f"returned {verdict!r}"
        self.wrong += 1
        got = f"{shown_bytes(buffer)}, for which check({_short(decoded)}, {number}) {outcome}"
        self.keep_wrong(f"request {number}", got, "an answer that check() accepts")
        return False


def _short(value: object) -> str:
    return f"{value!r:.100}"
