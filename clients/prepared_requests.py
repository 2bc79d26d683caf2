"""Prepare the requests of a plan for a user's service, count their answers, and schedule bursts of
requests.

user_service.py makes these objects before the timed region; in it, a worker calls
PreparedRequest.wrong() and the methods of PlanTally between two requests. A route is the requests
of one name. Bursts follows the protocol Schedule of schedule.py.
"""

import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter_ns

from clients.channel import CallFailed
from clients.schedule import NEVER_NS
from clients.tally import Slowest, Tally
from core.child import AN_ANSWER
from core.histogram import Histogram
from core.messages import Json
from core.request_plan import Request, Wrong, wrong
from core.secret import revealed

BURST = 16  # requests of each connection
# of a request that is sent in chunks; native/loadgen/src/request/plan.rs sends the same
CHUNK_BYTES = 8192


def bytes_of(request: Request, address: str, prefix: str = "") -> bytes:
    """Return the request as bytes, with secrets and the headers that it lacks. Raises OSError if
    the file with its body cannot be read.

    prefix: the path of the target, before the request's own path
    """
    body = request.body_bytes()
    names = {name.lower() for name in request.headers}
    headers = (
        {} if "host" in names else {"Host": "localhost" if address.startswith("/") else address}
    )
    if (body or request.method in ("POST", "PUT", "PATCH")) and not names & {
        "content-length",
        "transfer-encoding",
    }:
        headers |= {"Content-Length": str(len(body))}
    if body and "content-type" not in names:
        headers |= {"Content-Type": "application/json"}
    if "transfer-encoding" in names:
        body = chunked(body)
    named = {name: revealed(value) for name, value in request.headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **named}.items())
    return (
        f"{request.method} {prefix + revealed(request.path) or '/'} HTTP/1.1\r\n"
        f"{lines}\r\n".encode()
        + body
    )


def chunked(body: bytes) -> bytes:
    """Return the body of a request in chunks."""
    parts = [body[start : start + CHUNK_BYTES] for start in range(0, len(body), CHUNK_BYTES)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])


class RouteTally:
    """The counts of the requests of one name, on one connection or in total.

    latency: of each answer
    failed: how many requests got no usable answer
    """

    __slots__ = ("errors", "failed", "latency")

    def __init__(self, latency: Histogram) -> None:
        self.latency = latency
        self.errors = Counter[str]()
        self.failed = 0

    def merge(self, other: "RouteTally") -> None:
        """Add the counts of *other* to the counts of this object."""
        self.latency.merge(other.latency)
        self.errors += other.errors
        self.failed += other.failed

    def to_json(self) -> Json:
        """Return the counts for a client's result line."""
        answered = self.latency.count
        return {
            "requests": answered + self.failed,
            "answered": answered,
            "errors": dict(self.errors),
            "latency": self.latency.to_json(),
        }


class PreparedRequest:
    """An encoded request, and the last correct answer to it: an answer with the same bytes needs no
    second check.

    tally: the counts of its route on this connection
    """

    __slots__ = ("_right", "request", "sent", "tally")

    def __init__(self, request: Request, sent: bytes, tally: RouteTally) -> None:
        self.request = request
        self.sent = sent
        self.tally = tally
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

    latency: the histogram of the route that is called, so that a request is recorded only once.
        The caller sets it before each call; merge() adds up those of all routes
    routes: the counts of each route
    resent: requests that were sent again, because the service had closed a kept connection
    reconnects: how often an answer came on another connection than the answer before it
    connection: the connection on which the last answer came
    """

    __slots__ = ("connection", "reconnects", "resent", "routes")

    def __init__(self, routes: Sequence[RouteTally], slowest: Slowest | None = None) -> None:
        super().__init__(slowest)
        self.routes = routes
        self.resent = self.reconnects = 0
        self.connection: object = None

    def clear(self) -> None:
        """Set all counts to zero, except the count of connects."""
        super().clear()
        for route in self.routes:
            route.errors.clear()

    def clear_answers(self) -> None:
        """Set all counts to zero, except errors and connects."""
        super().clear_answers()
        self.resent = self.reconnects = 0
        for route in self.routes:
            route.latency.clear()
            route.failed = 0

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
            prepared.tally.errors[str(status)] += 1
        self.keep_wrong(str(prepared.request), difference.got, difference.expected)

    def fail(self, prepared: PreparedRequest, failed: CallFailed) -> None:
        """Count a request that got no usable answer."""
        self.errors[failed.code] += 1
        prepared.tally.errors[failed.code] += 1
        prepared.tally.failed += 1
        if failed.reason:
            self.keep_wrong(str(prepared.request), failed.reason, AN_ANSWER)

    def merge(self, other: "PlanTally") -> None:  # type: ignore[override]
        """Add the counts of *other* to the counts of this object, which must not have sent requests
        itself. The latency of *other* becomes the sum of its routes, so that each answer is counted
        once.
        """
        other.latency = Histogram()
        for mine, theirs in zip(self.routes, other.routes, strict=True):
            mine.merge(theirs)
            other.latency.merge(theirs.latency)
        super().merge(other)
        self.resent += other.resent
        self.reconnects += other.reconnects

    def to_result(self, started_ns: int, finished_ns: int) -> Json:
        """Return the counts for a client's result line."""
        counted = super().to_result(started_ns, finished_ns)
        return {**counted, "reconnects": self.reconnects, "resent": self.resent}


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
