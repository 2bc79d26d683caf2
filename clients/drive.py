"""The threads of one client process: each serves one (client, service) pair at a time and times every request."""

import json
import threading
from collections import Counter, deque
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from clients.channel import CallFailed
from core.cell import Cell
from core.histogram import Histogram
from core.system import Caller, System

GIVE_UP_AFTER = 10
ANSWER_DEADLINE_S = 30.0
_decode = json.JSONDecoder().raw_decode


class Tally:
    """What one thread has counted; threads share nothing while timed, merge() joins them afterwards."""

    __slots__ = ("answered", "calc_ns", "connect", "errors", "latency", "wrong")

    def __init__(self) -> None:
        self.answered = 0
        self.wrong = 0
        self.calc_ns = 0
        self.errors: Counter[str] = Counter()
        self.latency = Histogram()
        self.connect = Histogram()

    def merge(self, other: "Tally") -> None:
        """Add what *other* has counted."""
        self.answered += other.answered
        self.wrong += other.wrong
        self.calc_ns += other.calc_ns
        self.errors += other.errors
        self.latency.merge(other.latency)
        self.connect.merge(other.connect)

    def check(self, body: bytes, expected: str) -> bool:
        """Count one answer; whether it is the right one."""
        self.answered += 1
        try:
            answer, _ = _decode(body.decode())
            code = answer["code"]
            if code == 200 and answer["msg"] == expected:
                self.calc_ns += answer["calc_ns"]
                return True
        except (ValueError, KeyError, TypeError):
            self.errors["garbled"] += 1
            return False
        if code == 200:
            self.wrong += 1
        else:
            self.errors[str(code)] += 1
        return False

    def to_json(self) -> dict[str, Any]:
        """All counts; connect only where connections were opened while timed."""
        result = {
            "answered": self.answered,
            "wrong": self.wrong,
            "errors": dict(self.errors),
            "calc_ns": self.calc_ns,
            "latency": self.latency.to_json(),
        }
        if self.connect.count:
            result["connect"] = self.connect.to_json()
        return result


@dataclass(frozen=True, kw_only=True)
class Task:
    """One (client, service) pair: what to ask of the service, how often, and what came of it."""

    caller: Caller
    message: bytes
    expected: str
    requests: int
    tally: Tally


def call(task: Task) -> None:
    """Send the task's requests one after the other, and count and time every answer.

    A service that gives no usable answer GIVE_UP_AFTER times in a row is given up: the requests that were not
    sent are missing from answered.
    """
    take, give, drop = task.caller.take, task.caller.give, task.caller.drop
    check, record, clock = task.tally.check, task.tally.latency.record, perf_counter_ns
    message, expected = task.message, task.expected
    failures = 0
    for _ in range(task.requests):
        channel = None
        try:
            channel = take()
            start = clock()
            body = channel.ask(message)
            record(clock() - start)
        except CallFailed as failed:
            task.tally.errors[failed.code] += 1
            if channel is not None:
                drop(channel)
            failures += 1
            if failures == GIVE_UP_AFTER:
                return
            continue
        failures = 0
        if check(body, expected):
            give(channel)
        else:
            drop(channel)


class Client:
    """A client process's threads, ready to be released together.

    addresses: of every service, its sockets. Connections that are kept are open once this is built.
    """

    def __init__(self, system: System, cell: Cell, client_id: int, addresses: list[list[str]]) -> None:
        message, expected = system.message(cell), str(cell.calc_target)
        self._tasks: list[Task] = []
        for number in range(len(addresses)):
            sockets = addresses[(client_id + number) % len(addresses)]
            tally = Tally()
            caller = system.caller(cell, client_id, sockets, tally.connect.record)
            caller.open()
            self._tasks.append(
                Task(
                    caller=caller,
                    message=message,
                    expected=expected,
                    requests=cell.num_requests_per_client,
                    tally=tally,
                )
            )
        self._waiting = deque(self._tasks)
        self._released = threading.Event()
        count = min(cell.num_threads_per_client, len(self._tasks))
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def __repr__(self) -> str:
        return f"Client({len(self._tasks)} tasks, {len(self._threads)} threads, {len(self._waiting)} waiting)"

    def run(self, deadline_s: float = ANSWER_DEADLINE_S) -> dict[str, Any]:
        """Release the threads, wait for all of them, and sum up. Times are this host's monotonic clock, in ns.

        Once no answer has come for *deadline_s* the threads that still wait are left alone, each a `timeout`.
        """
        started_ns = perf_counter_ns()
        self._released.set()
        stuck = self._join(deadline_s)
        finished_ns = perf_counter_ns()
        total = Tally()
        for task in self._tasks:
            total.merge(task.tally)
        total.errors += Counter(timeout=stuck)
        return {
            "started_ns": started_ns,
            "finished_ns": finished_ns,
            "completion_ns": finished_ns - started_ns,
            "requests": sum(task.requests for task in self._tasks),
            **total.to_json(),
        }

    def _join(self, deadline_s: float) -> int:
        """Wait until every thread has ended; how many have not when the answers have stopped coming."""
        answered, quiet_since = -1, 0
        while alive := [thread for thread in self._threads if thread.is_alive()]:
            alive[0].join(min(1.0, deadline_s))
            now, so_far = perf_counter_ns(), sum(task.tally.answered for task in self._tasks)
            if so_far != answered:
                answered, quiet_since = so_far, now
            elif now - quiet_since > deadline_s * 1e9:
                return len(alive)
        return 0

    def _work(self) -> None:
        self._released.wait()
        while True:
            try:
                task = self._waiting.popleft()
            except IndexError:
                return
            call(task)
            task.caller.close()
