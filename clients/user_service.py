"""The client of a user's service. It has a thread for each connection, and sends the requests of
the plan over HTTP/1.1. What it cannot send, such as HTTP/2, native/loadgen sends.

systems/__main__.py makes it if the child's first line has the key `own`.

WorkerClient (quotas.py) drives the workers, and calls the hooks below that begin with _. A
pick is an index of the plan's requests; each connection is a virtual user with its own beginning in
the order of the picks. PlanWorker.call() and _send() are the measured loop. lab/ uses prepare() and
connector() to ask whether a service answers, and in stress tests.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from time import perf_counter_ns

from clients.channel import CallFailed
from clients.http import H2, HTTP1, IDEMPOTENT, HttpConnection, Tls
from clients.prepared_requests import (
    Bursts,
    PlanTally,
    PreparedRequest,
    RouteTally,
    bytes_of,
)
from clients.quotas import GIVE_UP_AFTER, Quota, WorkerClient, numbers, together, turns
from clients.schedule import OVER, Arrivals, AtRate, Pace, Schedule, ThinkTime
from clients.tally import Slowest, shared, time_at_edges
from core.cell import Cell
from core.child import TIMEOUT, Slice, thread_run_queue_ns, wait_until
from core.histogram import Histogram, SparseHistogram
from core.messages import Json
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S, RequestPlan, order
from core.user_service import HTTP2

ORDER_LENGTH = 4096  # after about so many requests, the order repeats
# between the beginnings of successive users, so that they do not send rare requests together
STRIDE = 1597


class PlanWorker:
    """A worker of a client, with one connection and the counts of its requests. It connects again
    after an error.
    """

    def __init__(
        self,
        connect: Callable[[], HttpConnection],
        requests: Sequence[PreparedRequest],
        picks: Sequence[int],
        tally: PlanTally,
    ) -> None:
        self._connect = connect
        self._first = requests[picks[0]]
        self._upcoming = cycle([requests[pick] for pick in picks])  # goes on from slice to slice
        self._connection: HttpConnection | None = None
        self.run_queue_ns = self.uncounted = 0
        self.has_starved = False
        self._timed_out: PreparedRequest | None = None
        self.tally = tally

    def open(self) -> None:
        """Open the connection. Ignore a failure, because the first request will report it."""
        try:
            self._take()
        except CallFailed as failed:
            self._note_timeout(self._first, failed)
            self.drop()

    def drop(self) -> None:
        """Close the connection. The next request opens a new connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(
        self, requests: int | None, until_ns: int, schedule: Schedule, counts_from_ns: int = 0
    ) -> None:
        """Send *requests* requests; if *requests* is None, send until *until_ns*. Count and time
        each request.

        No request starts after *until_ns*, but each request is awaited. If the schedule has fixed
        times, a request starts when it is due. After GIVE_UP_AFTER failures in a row, the remaining
        requests are not sent. After one timeout, nothing is sent in later calls, either: each
        counts the timeout again.
        counts_from_ns: of the requests that start before this time, only errors count. uncounted
            says how many there were
        """
        failures, self.uncounted, now_ns = 0, 0, perf_counter_ns()
        if self._timed_out:
            self.tally.end_lead(counts_from_ns, until_ns)
            self.tally.errors[TIMEOUT] += 1
            self._timed_out.tally.errors[TIMEOUT] += 1
            self.tally.sent = requests or 0
            return
        self._refresh()
        for number in numbers(requests):
            intended_ns = schedule.wait(number, until_ns)
            if intended_ns == OVER:
                break
            if schedule.waits:
                now_ns = perf_counter_ns()
                self._refresh()
            if now_ns >= until_ns:
                break
            if (intended_ns or now_ns) >= counts_from_ns > 0:
                self.uncounted = self.tally.end_lead(counts_from_ns, until_ns)
                counts_from_ns = 0
            code, now_ns = self._send(next(self._upcoming), intended_ns)
            failures = failures + 1 if code else 0
            if code == TIMEOUT or failures == GIVE_UP_AFTER:
                break
        if counts_from_ns:
            self.uncounted = self.tally.end_lead(counts_from_ns, until_ns)
        if requests is not None:
            self.tally.sent = requests
        self.run_queue_ns = thread_run_queue_ns()

    def _send(self, prepared: PreparedRequest, intended_ns: int) -> tuple[str, int]:
        """Send and count one request. Return its failure code ("" if it was answered) and its end
        time.
        """
        tally = self.tally
        tally.sent += 1
        try:
            # connect before the clock starts
            self._connection or self._take()
            start = intended_ns or perf_counter_ns()
            status, body = self._ask(prepared.sent, prepared.request.method)
            end = perf_counter_ns()
            # only now, because _ask() may have opened another connection
            connection = self._take()
        except CallFailed as failed:
            tally.fail(prepared, failed)
            self._note_timeout(prepared, failed)
            self.drop()
            return failed.code, perf_counter_ns()
        tally.latency = prepared.tally.latency
        tally.count(start, end)
        tally.check(prepared, status, prepared.wrong(status, body, connection.head), connection)
        if not connection.usable:
            self.drop()
        return "", end

    def _ask(self, sent: bytes, method: str) -> tuple[int, bytes]:
        """Send a request, and return its answer's status and body. Send it again if HTTP allows
        this (RFC 9112, 9.3.1).

        It may be sent again, once and on a new connection, if it is idempotent and the service
        closed a kept connection before any byte of the answer.
        """
        try:
            return self._take().ask(sent, method)
        except CallFailed as failed:
            if not (failed.was_kept and method in IDEMPOTENT):
                raise
        self.drop()
        self.tally.resent += 1
        return self._take().ask(sent, method)

    def _note_timeout(self, prepared: PreparedRequest, failed: CallFailed) -> None:
        """If an answer did not come in time, send no more requests. Note whether the connection
        never had an answer.
        """
        if failed.code == TIMEOUT:
            connection = self._connection
            self._timed_out = prepared
            self.has_starved = not (
                connection and (connection.head or connection is self.tally.connection)
            )

    def _take(self) -> HttpConnection:
        """Return the open connection, or a new one. Connect times go into a separate histogram.
        Raises CallFailed.
        """
        if self._connection is None:
            start = perf_counter_ns()
            self._connection = self._connect()
            self.tally.connect.record(perf_counter_ns() - start)
        return self._connection

    def _refresh(self) -> None:
        """Drop the connection if the service closed it while it was idle. HTTP allows this."""
        if self._connection is not None and self._connection.is_stale():
            self.drop()


class UserServiceClient(WorkerClient[PlanWorker]):
    """A client with NUM_CONNECTIONS_PER_CLIENT workers. Creating a client opens the connections.

    service: the service's part of the child's first line: `protocol`, `requests`, `prefix` of the
        paths, `bursts` (whether all connections repeatedly send together in the timed window) and
        `answer_deadline_s`
    """

    def __init__(
        self,
        service: Json,
        cell: Cell,
        client_id: int,
        addresses: Sequence[Sequence[str]],
        method: Method,
        block: int = 1,
    ) -> None:
        plan = RequestPlan.from_json(service["requests"])
        self._bursts = bool(service.get("bursts"))
        self._pace = Pace(cell.rate, method.poisson)
        self._arrivals: Arrivals | None = None
        places = turns(cell, client_id, len(addresses))
        first_user = client_id * len(places) + 1
        seed = block * cell.num_clients + client_id + 1
        picks = order(plan.requests, seed, ORDER_LENGTH if len(plan.requests) > 1 else 1)
        self._client_id, self._clients = client_id, cell.num_clients
        deadline_s = float(service.get("answer_deadline_s", ANSWER_DEADLINE_S))
        self._plan = plan
        workers = []
        for user, turn in enumerate(places, first_user):
            address, begin = (
                addresses[turn][0],
                user * STRIDE % len(picks),
            )  # each user begins at another request
            prepared = prepare(service, plan, address)
            # in the order of plan.names, as in _counted(), because merge() pairs them by place
            routes = [*dict.fromkeys(request.tally for request in prepared)]
            worker = PlanWorker(
                partial(connector(service), address, deadline_s),
                prepared,
                [*picks[begin:], *picks[:begin]],
                PlanTally(routes, Slowest(shared(len(places)), turn)),
            )
            workers.append(worker)
        super().__init__(workers, cell, cell.num_api_services, method)

    def run_slice(self, part: Slice) -> Json:
        """Send requests for a slice, a short time with a given start. Return its counts, and reset
        them to zero.
        """
        # made before the slice begins, because it allocates
        workers, schedules = self._workers, self._schedules(part.at_ns, part.until_ns)

        def send(place: int) -> None:
            if not (self._pace.rate or self._bursts):
                wait_until(
                    part.begins_ns(
                        place * self._clients + self._client_id, len(workers) * self._clients
                    )
                )
            workers[place].call(None, part.until_ns, schedules[place], part.counts_from_ns)

        wait_until(part.at_ns)
        together([partial(send, place) for place in range(len(workers))])
        uncounted = sum(worker.uncounted for worker in workers)
        result = self._counted(part.counts_from_ns, perf_counter_ns(), uncounted)
        at_edges = (
            {} if self._pace.rate else time_at_edges(part, [[worker.tally] for worker in workers])
        )
        for worker in self._workers:
            worker.tally.clear()
            worker.tally.connect.clear()
        return {**result, "uncounted": uncounted, "connections": len(workers), **at_edges}

    def _calls(self, quota: Quota, started_ns: int) -> list[Callable[[], None]]:
        until_ns = quota.until_ns(started_ns)
        most = None if quota.slice_ns else sum(requests or 0 for requests in quota.requests)
        schedules = self._schedules(started_ns, until_ns, most)
        requests = [None] * len(self._workers) if self._pace.rate else quota.requests
        return [
            partial(worker.call, amount, until_ns, schedule)
            for worker, amount, schedule in zip(self._workers, requests, schedules, strict=True)
        ]

    def _schedules(
        self, started_ns: int, until_ns: int, most: int | None = None
    ) -> Sequence[Schedule]:
        """Return a schedule for each connection, which says when the connection sends its next
        request.

        most: the number of requests at a rate, if there is no duration
        """
        workers = len(self._workers)
        if self._bursts:
            barrier = threading.Barrier(workers)
            return [Bursts(barrier, until_ns) for _ in range(workers)]
        if not self._pace.rate:
            return [ThinkTime(self._plan.think_time_s)] * workers
        self._arrivals = Arrivals(self._pace, started_ns, until_ns, most)
        return [AtRate(self._arrivals, worker.tally.lag_recorder()) for worker in self._workers]

    def _result(self, started_ns: int, finished_ns: int) -> Json:
        self.close()  # a server that stops waits for open connections: gunicorn waits two seconds
        return self._counted(started_ns, finished_ns)

    def _counted(self, started_ns: int, finished_ns: int, uncounted: int = 0) -> Json:
        total = PlanTally([RouteTally(SparseHistogram()) for _ in self._plan.names])
        for worker in self._workers:
            total.merge(worker.tally)
        routes = [route.to_json() for route in total.routes]
        starved = sum(worker.has_starved for worker in self._workers)
        return {
            **total.to_result(started_ns, finished_ns),
            **({"starved": starved} if starved else {}),
            **({"routes": routes} if self._plan.routes else {}),
            "run_queue_ns": sum(worker.run_queue_ns for worker in self._workers),
            **(
                {"overdue": self._arrivals.due() - total.sent - uncounted} if self._arrivals else {}
            ),
        }


def prepare(service: Json, plan: RequestPlan, address: str) -> list[PreparedRequest]:
    """Return the plan's requests as bytes for the service at *address*."""
    kind = SparseHistogram if len(plan.names) > 1 else Histogram
    tallies = {name: RouteTally(kind()) for name in plan.names}
    return [
        PreparedRequest(
            request, bytes_of(request, address, service["prefix"]), tallies[str(request)]
        )
        for request in plan.requests
    ]


def connector(service: Json) -> Callable[..., HttpConnection]:
    """Return a function that opens a connection to the service.

    With HTTP/2, the connection only shows whether the service accepts, because the native client
    sends the requests.
    """
    tls = service.get("tls")
    if not tls:
        return HttpConnection
    return partial(HttpConnection, tls=Tls(tls, H2 if service["protocol"] == HTTP2 else HTTP1))
