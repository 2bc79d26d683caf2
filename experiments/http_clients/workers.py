"""The common part of HTTP clients with threads or tasks: connections, counts and times.

threads.py and tasks.py have the loops. In them a worker only appends times and counts errors, and
summary() does all else after the timed region. Clients and workers follow clients/quotas.py, and
results docs/child-contract.md.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Protocol, TypeVar

from clients.quotas import WorkerClient, turns
from clients.tally import Tally
from core.cell import Cell
from core.histogram import Histogram
from core.method import Method

REQUEST_DEADLINE_S = 5.0  # longest time of an answer; a longer one counts as a timeout
EXPECTED_BYTES = len("Hello, World!")  # the answer of axum-server
TIMELINE_REQUESTS = 100  # of each worker, in `timeline`


class Connection(Protocol):
    """A keep-alive connection. With asyncio, the results of its methods must be awaited."""

    def get(self) -> Any:
        """Send GET / and read the whole body. Return the status, and the body's length in bytes."""

    def close(self) -> Any:
        """Close the connection."""


class HttpTally:
    """The counts of one worker. Workers share nothing in the timed region; summary() adds the
    counts up afterwards.

    connect:  time of the first connect with the first request, because most libraries connect at
              this request
    times_ns: start and end of each answered request, alternating, on the monotonic clock. A
        histogram is made of them after the workers have ended: docs/decisions/019-http-times.md
    loop_ns:  time of the worker's loop, from its first request to its last answer
    """

    __slots__ = ("connect", "errors", "loop_ns", "sent", "times_ns", "wrong")

    def __init__(self) -> None:
        self.connect = Histogram()
        self.clear()

    def clear(self) -> None:
        """Set the worker's counts to zero, except the time of its connect."""
        self.sent = self.wrong = self.loop_ns = 0
        self.errors: Counter[str] = Counter()
        self.times_ns = array("q")  # of 64 bits

    def refuse(self, status: int) -> None:
        """Count one answer with a wrong status or length."""
        if status == 200:
            self.wrong += 1
        else:
            self.errors[str(status)] += 1

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Return start and end of every answered request, in ns on the monotonic clock."""
        return zip(self.times_ns[::2], self.times_ns[1::2], strict=True)


class UrlConnection:
    """A connection with its own client of an HTTP library, which sends GET / to one server."""

    __slots__ = ("_client", "_deadline_s", "_url")

    def __init__(
        self, make: Callable[[float], Any], host: str, port: int, deadline_s: float
    ) -> None:
        self._url = f"http://{host}:{port}/"
        self._deadline_s = deadline_s
        self._client = make(deadline_s)

    def close(self) -> Any:
        """Close the connection."""
        return self._client.close()


Codes = Mapping[type[BaseException], str]


def code_of(codes: Codes, error: Exception) -> str:
    """Return the code (docs/child-contract.md) of the first class in *codes* that *error* belongs
    to.
    """
    return next((code for kind, code in codes.items() if isinstance(error, kind)), "garbled")


def first_argument(error: Exception) -> str:
    """Return the code of an exception that has it as its first argument, as those of our
    extensions.
    """
    return str(error.args[0])


@dataclass(frozen=True)
class Library:
    """An HTTP library.

    connect(host, port, deadline_s): opens a connection; deadline_s is the longest time of an answer
    failures: the exceptions of a connection if a request fails
    code_of: returns the code of a failure
    """

    connect: Callable[[str, int, float], Connection]
    failures: tuple[type[Exception], ...]
    code_of: Callable[[Exception], str] = first_argument


class HttpWorker:
    """A worker: a connection, which is opened again after an error, and the counts of
    its requests.
    """

    __slots__ = ("_connection", "_library", "_place", "tally")

    def __init__(self, library: Library, place: tuple[str, int]) -> None:
        self._library = library
        self._place = place
        self._connection: Connection | None = None
        self.tally = HttpTally()

    def _take(self) -> Connection:
        if self._connection is None:
            self._connection = self._library.connect(*self._place, REQUEST_DEADLINE_S)
        return self._connection

    def _fail(self, failed: Exception) -> None:
        self.tally.errors[self._library.code_of(failed)] += 1


WorkerT = TypeVar("WorkerT", bound=HttpWorker)


class HttpClient(WorkerClient[WorkerT]):
    """A client whose workers are of *worker_type*, and call the services in turn.

    addresses: for every service, the addresses of its sockets
    kind: "thread" or "task"
    """

    worker_type: ClassVar[type[HttpWorker]]
    kind: ClassVar[str]

    def __init__(
        self,
        library: Library,
        cell: Cell,
        client_id: int,
        addresses: Sequence[Sequence[str]],
        method: Method,
    ) -> None:
        workers: list[Any] = []
        for turn in turns(cell, client_id, len(addresses)):
            host, _, port = addresses[turn][0].rpartition(":")
            workers.append(self.worker_type(library, (host, int(port))))
        super().__init__(workers, cell, len(addresses), method)

    def _result(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        tallies = [worker.tally for worker in self._workers]
        return summary(tallies, started_ns, finished_ns, self.kind)


def summary(
    tallies: Sequence[HttpTally], started_ns: int, finished_ns: int, worker: str
) -> dict[str, Any]:
    """Return a client's result: the sum of its workers' counts, and their times. Call it after the
    workers have ended.

    worker: "thread" or "task"
    The result has bench_ns (from before the start of the first worker to the end of the last),
    workers_ns (the time of each worker's loop) and timeline (each worker's first requests as
    [start, end], in ns from *started_ns*).
    """
    total = Tally()
    for tally in tallies:
        total.sent += tally.sent
        total.wrong += tally.wrong
        total.errors += tally.errors + _record(tally, total.latency)
        total.connect.merge(tally.connect)
    total.answered = total.latency.count
    return {
        **total.to_result(started_ns, finished_ns),
        "bench_ns": finished_ns - started_ns,
        "worker": worker,
        "workers_ns": [tally.loop_ns for tally in tallies],
        "timeline": [_timeline(tally, started_ns) for tally in tallies],
    }


def _record(tally: HttpTally, latency: Histogram) -> Counter[str]:
    """Record the latencies. Count an answer after REQUEST_DEADLINE_S as a timeout: not all
    libraries have timeouts.
    """
    late, deadline_ns = Counter[str](), round(REQUEST_DEADLINE_S * 1e9)
    for start_ns, end_ns in tally.pairs():
        if end_ns - start_ns > deadline_ns:
            late["timeout"] += 1
        else:
            latency.record(end_ns - start_ns)
    return late


def _timeline(tally: HttpTally, started_ns: int) -> list[list[int]]:
    return [
        [start - started_ns, end - started_ns]
        for start, end in islice(tally.pairs(), TIMELINE_REQUESTS)
    ]
