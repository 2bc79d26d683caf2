"""The client of a user's own service: a thread for each connection, and requests as the request plan has them."""

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import count, cycle
from time import perf_counter_ns
from typing import Any, Protocol

from clients.channel import CallFailed
from clients.http import workers as http_workers
from clients.http.workers import GIVE_UP_AFTER
from clients.own import framed as own_framed
from clients.own import http as own_http
from clients.own.asking import Pace, Question, Tally
from core.cell import Cell
from core.child import thread_run_queue_ns
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S, Request, RequestPlan, order

ORDER_LENGTH = 4096  # after so many requests, the order begins anew


class Connection(Protocol):
    """One connection, kept open while it is usable. Errors are clients.channel.CallFailed."""

    usable: bool

    def ask(self, sent: bytes, method: str) -> tuple[int, bytes]:
        """Send one request; status and body of its answer."""

    def is_stale(self) -> bool:
        """Whether the service has closed it while nothing was under way."""

    def close(self) -> None:
        """Close the connection."""


Connect = Callable[[str, float], Connection]
PROTOCOLS: Mapping[str, tuple[Connect, Callable[[Request, str, str], bytes]]] = {
    "http": (own_http.HttpConnection, own_http.message),
    "framed": (own_framed.FramedConnection, own_framed.message),
}


class Worker:
    """One connection, opened when it is needed and again after an error, and what its requests came to."""

    def __init__(self, connect: Connect, address: str, questions: Sequence[Question], turns: Sequence[int]) -> None:
        self._connect = connect
        self._address = address
        self._turns = [questions[turn] for turn in turns]
        self._connection: Connection | None = None
        self.run_queue_ns = 0
        self.tally = Tally()

    def open(self) -> None:
        """Open the connection; if that fails, the first request will say so."""
        try:
            self._take()
        except CallFailed:
            self.drop()

    def drop(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(self, requests: int | None, until_ns: int, pace: Pace) -> None:
        """Send *requests* requests (None: any number, until *until_ns*), count and time each.

        Latency is from the time at which a request was to be sent, where the pace has such times. Gives up after
        GIVE_UP_AFTER failures in a row, or one timeout; what was not sent is missing from answered.
        """
        turns, failures = cycle(self._turns), 0
        self._refresh()
        for number in count() if requests is None else range(requests):
            intended_ns = pace.wait(number)
            if pace.waits:
                if perf_counter_ns() >= until_ns:
                    break
                self._refresh()
            code, end_ns = self._ask(next(turns), intended_ns)
            failures = failures + 1 if code else 0
            if end_ns >= until_ns or code == "timeout" or failures == GIVE_UP_AFTER:
                break
        if requests is not None:
            self.tally.sent = requests
        self.run_queue_ns = thread_run_queue_ns()

    def _ask(self, question: Question, intended_ns: int) -> tuple[str, int]:
        """Send one request and count it: the code of its failure, empty if an answer came, and when it was over."""
        tally = self.tally
        tally.sent += 1
        try:
            connection = self._connection or self._take()
            start = intended_ns or perf_counter_ns()
            status, body = connection.ask(question.sent, question.request.method)
            end = perf_counter_ns()
        except CallFailed as failed:
            tally.errors[failed.code] += 1
            self.drop()
            return failed.code, perf_counter_ns()
        tally.latency.record(end - start)
        tally.check(question, status, body)
        if not connection.usable:
            self.drop()
        return "", end

    def _take(self) -> Connection:
        """An open connection. What connecting took is counted apart. Raises CallFailed."""
        if self._connection is None:
            start = perf_counter_ns()
            self._connection = self._connect(self._address, ANSWER_DEADLINE_S)
            self.tally.connect.record(perf_counter_ns() - start)
        return self._connection

    def _refresh(self) -> None:
        """Drop a connection that the service has closed while it was idle: HTTP lets it do that."""
        if self._connection is not None and self._connection.is_stale():
            self.drop()


class OwnClient:
    """NUM_CONNECTIONS_PER_CLIENT workers, whose connections are open once this is built.

    told: what the first line has about the service: its `protocol`, its `requests` and the `prefix` of its paths
    """

    def __init__(
        self, told: Mapping[str, Any], cell: Cell, client_id: int, addresses: Sequence[Sequence[str]], method: Method
    ) -> None:
        plan = RequestPlan.from_json(told["requests"])
        self._think_s, self._cell, self._client_id = plan.think_time_s, cell, client_id
        self._workers = [
            _worker(told, plan, addresses[turn][0], f"{client_id} {number}")
            for number, turn in enumerate(http_workers.turns(cell, client_id, len(addresses)))
        ]
        self._warmup = http_workers.warmup(cell, cell.num_api_services, method)
        self._timed = http_workers.timed(cell, cell.num_api_services, method)
        _together([threading.Thread(target=worker.open, daemon=True) for worker in self._workers])

    def __repr__(self) -> str:
        return f"OwnClient({len(self._workers)} connections)"

    def warm_up(self) -> None:
        """Ask as in the timed window, as much as the method says, and forget it."""
        self._race(self._warmup)
        for worker in self._workers:
            worker.tally.clear()

    def run(self) -> dict[str, Any]:
        """Release the threads, wait for all of them, and sum up: docs/child-contract.md."""
        started_ns, finished_ns = self._race(self._timed)
        self.close()  # a server that ends waits for connections that are open: gunicorn two seconds
        total = Tally()
        for worker in self._workers:
            total.merge(worker.tally)
        return {
            "started_ns": started_ns,
            "finished_ns": finished_ns,
            "completion_ns": finished_ns - started_ns,
            "run_queue_ns": sum(worker.run_queue_ns for worker in self._workers),
            "requests": total.sent,
            "answered": total.answered,
            "wrong": total.wrong,
            "errors": dict(total.errors),
            "latency": total.latency.to_json(),
            "connect": total.connect.to_json(),
            **({"first_wrong": total.first_wrong} if total.first_wrong else {}),
        }

    def close(self) -> None:
        """Close the connections; a process that ends need not."""
        for worker in self._workers:
            worker.drop()

    def _race(self, quota: http_workers.Quota) -> tuple[int, int]:
        started_ns = perf_counter_ns()
        until_ns = quota.until_ns(started_ns)
        shares = zip(self._workers, quota.requests, strict=True)
        _together(
            [
                threading.Thread(target=worker.call, args=(each, until_ns, self._pace(number, started_ns)), daemon=True)
                for number, (worker, each) in enumerate(shares)
            ]
        )
        return started_ns, perf_counter_ns()

    def _pace(self, number: int, started_ns: int) -> Pace:
        """The workers of a client take turns, so that together they send RATE requests a second, evenly."""
        rate = self._cell.rate if "RATE" in self._cell.reads else 0
        if not rate:
            return Pace(self._think_s)
        return Pace(0.0, started_ns + round(number * 1e9 / rate), round(len(self._workers) * 1e9 / rate))


def _worker(told: Mapping[str, Any], plan: RequestPlan, address: str, seed: str) -> Worker:
    connect, message = PROTOCOLS[told["protocol"]]
    questions = [Question(one, message(one, address, told["prefix"])) for one in plan.requests]
    length = ORDER_LENGTH if len(questions) > 1 else 1
    return Worker(connect, address, questions, order(plan.requests, seed, length))


def _together(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
