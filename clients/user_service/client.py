"""The client of a user's service. It has a thread for each connection and sends the requests of the plan."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from time import perf_counter_ns
from typing import Any, Protocol

from clients.channel import CallFailed
from clients.schedule import OVER, Arrivals, AtRate, Pace, Schedule, ThinkTime
from clients.slowest import shared
from clients.user_service import framed, http
from clients.user_service.plan import Bursts, PlanTally, PreparedRequest
from clients.workers import GIVE_UP_AFTER, Quota, WorkerClient, numbers, together, turns
from core.cell import Cell
from core.child import Slice, thread_run_queue_ns, wait_until
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S, Request, RequestPlan, order

ORDER_LENGTH = 4096  # after this many requests, the order repeats


class ServiceConnection(Protocol):
    """A connection to a user's service, kept while it is usable. Errors are clients.channel.CallFailed."""

    usable: bool

    def ask(self, sent: bytes, method: str) -> tuple[int, bytes]:
        """Send one request, and return status and body of its answer."""

    def is_stale(self) -> bool:
        """Return whether the service has closed the connection between requests."""

    def close(self) -> None:
        """Close the connection."""


Connect = Callable[[str, float], ServiceConnection]
PROTOCOLS: Mapping[str, tuple[Connect, Callable[[Request, str, str], bytes]]] = {
    "http": (http.HttpConnection, http.message),
    "framed": (framed.FramedConnection, framed.message),
}


class PlanWorker:
    """A worker of the client: a connection, which is opened again after an error, and the counts of its requests."""

    def __init__(
        self,
        connect: Connect,
        address: str,
        requests: Sequence[PreparedRequest],
        picks: Sequence[int],
        tally: PlanTally,
        deadline_s: float = ANSWER_DEADLINE_S,
    ) -> None:
        self._connect = connect
        self._deadline_s = deadline_s
        self._address = address
        self._requests = [requests[pick] for pick in picks]
        self._connection: ServiceConnection | None = None
        self.run_queue_ns = self._slice_end_ns = 0
        self.tally = tally

    def open(self) -> None:
        """Open the connection. Ignore a failure, because the first request will report it."""
        try:
            self._take()
        except CallFailed:
            self.drop()

    def drop(self) -> None:
        """Close the connection. The next request opens a new connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(self, requests: int | None, until_ns: int, schedule: Schedule) -> None:
        """Send *requests* requests, or until *until_ns* if None. Count and time each request.

        If the schedule has fixed times, a latency counts from the time at which the request was due. After
        GIVE_UP_AFTER failures in a row, or one timeout, the remaining requests are not sent.
        """
        upcoming, failures, self._slice_end_ns = cycle(self._requests), 0, 0
        self._refresh()
        for number in numbers(requests):
            intended_ns = schedule.wait(number)
            if intended_ns == OVER:
                break
            if schedule.waits:
                if perf_counter_ns() >= until_ns:
                    break
                self._refresh()
            code, end_ns = self._send(next(upcoming), intended_ns)
            failures = failures + 1 if code else 0
            if end_ns >= until_ns or code == "timeout" or failures == GIVE_UP_AFTER:
                break
        if requests is not None:
            self.tally.sent = requests
        self.run_queue_ns = thread_run_queue_ns()

    def call_slice(self, part: Slice, before: Schedule, schedule: Schedule) -> int:
        """Send requests until the slice ends. Return the number of answers before counting started."""
        self.call(None, part.counts_from_ns, before)
        uncounted = self.tally.forget()
        self.call(None, part.until_ns, schedule)
        return uncounted

    def _send(self, prepared: PreparedRequest, intended_ns: int) -> tuple[str, int]:
        """Send and count one request. Return the code of its failure ("" for an answer), and the time of its end."""
        tally = self.tally
        tally.sent += 1
        try:
            connection = self._connection or self._take()
            start = intended_ns or perf_counter_ns()
            status, body = connection.ask(prepared.sent, prepared.request.method)
            end = perf_counter_ns()
        except CallFailed as failed:
            tally.errors[failed.code] += 1
            self.drop()
            return failed.code, perf_counter_ns()
        latency_ns = end - start
        tally.latency.record(latency_ns)
        if latency_ns > tally.slowest.floor_ns:
            tally.slowest.note(latency_ns, start)
        if end >= self._slice_end_ns:
            self._slice_end_ns = tally.slices.turn(end, tally.answered)
        tally.check(prepared, status, body)
        if not connection.usable:
            self.drop()
        return "", end

    def _take(self) -> ServiceConnection:
        """Return an open connection. The time of a connect goes to its own histogram. Raises CallFailed."""
        if self._connection is None:
            start = perf_counter_ns()
            self._connection = self._connect(self._address, self._deadline_s)
            self.tally.connect.record(perf_counter_ns() - start)
        return self._connection

    def _refresh(self) -> None:
        """Drop the connection if the service has closed it while idle, which HTTP allows."""
        if self._connection is not None and self._connection.is_stale():
            self.drop()


class UserServiceClient(WorkerClient[PlanWorker]):
    """A client with NUM_CONNECTIONS_PER_CLIENT workers. Making it opens the connections.

    service: the service's part of the child's first line: `protocol`, `requests`, `prefix` of the paths, `bursts`
        (whether all connections repeatedly send together in the timed window) and `answer_deadline_s`
    """

    def __init__(
        self, service: Mapping[str, Any], cell: Cell, client_id: int, addresses: Sequence[Sequence[str]], method: Method
    ) -> None:
        plan = RequestPlan.from_json(service["requests"])
        self._think_s = plan.think_time_s
        self._bursts = bool(service.get("bursts"))
        self._pace = Pace(cell.rate, method.poisson)
        self._arrivals: Arrivals | None = None
        places = turns(cell, client_id, len(addresses))
        workers = [
            _worker(service, plan, addresses[turn][0], f"{client_id} {number}", PlanTally(turn, shared(len(places))))
            for number, turn in enumerate(places)
        ]
        super().__init__(workers, cell, cell.num_api_services, method)

    def run_slice(self, part: Slice) -> dict[str, Any]:
        """Send requests for a slice of time. Return its result, and set the counts to zero."""
        uncounted: list[int] = []

        before = self._schedules(part.at_ns, part.counts_from_ns)
        counted = self._schedules(part.counts_from_ns, part.until_ns)

        def send(worker: PlanWorker, lead: Schedule, schedule: Schedule) -> None:
            uncounted.append(worker.call_slice(part, lead, schedule))

        wait_until(part.at_ns)
        together([partial(send, *one) for one in zip(self._workers, before, counted, strict=True)])
        result = self._counted(part.counts_from_ns, perf_counter_ns())
        for worker in self._workers:
            worker.tally.clear()
            worker.tally.connect.clear()
        return result | {"uncounted": sum(uncounted)}

    def _calls(self, quota: Quota, started_ns: int) -> list[Callable[[], None]]:
        until_ns = quota.until_ns(started_ns)
        most = None if quota.slice_ns else sum(requests or 0 for requests in quota.requests)
        schedules = self._schedules(started_ns, until_ns, most)
        requests = [None] * len(self._workers) if self._pace.rate else quota.requests
        return [
            partial(worker.call, amount, until_ns, schedule)
            for worker, amount, schedule in zip(self._workers, requests, schedules, strict=True)
        ]

    def _schedules(self, started_ns: int, until_ns: int, most: int | None = None) -> Sequence[Schedule]:
        """Return the schedule of each connection. most: how many requests are due at a rate, if time does not say."""
        workers = len(self._workers)
        if self._bursts:
            barrier = threading.Barrier(workers)
            return [Bursts(barrier, until_ns) for _ in range(workers)]
        if not self._pace.rate:
            return [ThinkTime(self._think_s)] * workers
        self._arrivals = Arrivals(self._pace, started_ns, until_ns, most)
        return [AtRate(self._arrivals, worker.tally.lag.record) for worker in self._workers]

    def _result(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        self.close()  # a server that stops waits for open connections: gunicorn waits two seconds
        return self._counted(started_ns, finished_ns)

    def _counted(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        total = PlanTally()
        for worker in self._workers:
            total.merge(worker.tally)
        return {
            **total.to_result(started_ns, finished_ns),
            "run_queue_ns": sum(worker.run_queue_ns for worker in self._workers),
            **({"overdue": self._arrivals.due() - total.sent} if self._arrivals else {}),
            **({"first_wrong": total.first_wrong} if total.first_wrong else {}),
        }


def _worker(service: Mapping[str, Any], plan: RequestPlan, address: str, seed: str, tally: PlanTally) -> PlanWorker:
    connect, message = PROTOCOLS[service["protocol"]]
    prepared = [PreparedRequest(request, message(request, address, service["prefix"])) for request in plan.requests]
    length = ORDER_LENGTH if len(prepared) > 1 else 1
    deadline_s = float(service.get("answer_deadline_s", ANSWER_DEADLINE_S))
    return PlanWorker(connect, address, prepared, order(plan.requests, seed, length), tally, deadline_s)
