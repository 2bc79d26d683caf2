"""The threads of a client process. Each thread sends and times the client's requests, to one
service at a time.

systems/__main__.py makes a CallerClient for each client of a system that declares a caller and a
message, or encode, decode and check. A task is the requests to one service, and a thread works on
one task after another. call() is the measured loop: what it looks up, it looks up before the loop,
and between its two readings of the clock there is only ask().
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns

from clients.call_tally import ANSWER_LIMIT_S, CallTally, OwnTally
from clients.callers import cached_caller
from clients.channel import CallFailed, StreamChannel
from clients.quotas import GIVE_UP_AFTER, numbers
from clients.schedule import NEVER_NS, OVER, Arrivals, AtRate, Pace, Schedule
from clients.tally import Slowest, shared, time_at_edges
from core.cell import Cell
from core.child import TIMEOUT, Slice, thread_run_queue_ns, wait_until
from core.messages import Json
from core.method import Method
from core.system import Caller, System, loaded

# a client gives up after so long without any answer; sockets have no timeouts of their own
# (docs/decisions/005-no-socket-timeouts.md)
ANSWER_DEADLINE_S = 30.0
PROBE_EVERY = 64  # one of 64 requests asks when its handler began


@dataclass(kw_only=True)
class Task:
    """The requests of one client to one service: its connections, the bytes to send, and the
    counts.

    encode: returns the bytes of the request with a number. Raises CallFailed
    asked: how many requests have been sent so far, over all slices
    """

    caller: Caller
    encode: Callable[[int], bytes]
    tally: CallTally
    asked: int = 0


def call(task: Task, requests: int | None, until_ns: int, schedule: Schedule | None = None) -> None:
    """Send *requests* requests one after the other; if *requests* is None, send until *until_ns*.
    Time every answer.

    No request starts after *until_ns*, but each request is awaited.
    With a schedule, each request is sent when it is due. Its latency counts from the due time, even
    if it is sent late. After GIVE_UP_AFTER failures in a row, or one timeout, the remaining
    requests are not sent.
    """
    take, give, drop = task.caller.take, task.caller.give, task.caller.drop
    encode, tally, clock = task.encode, task.tally, perf_counter_ns
    count, check = tally.count, tally.check
    failures, due_ns, first, number = 0, 0, task.asked, task.asked - 1
    for number in numbers(requests, first):
        if schedule and (due_ns := schedule.wait(number)) == OVER:
            tally.sent, task.asked = tally.sent + number - first, number
            return
        channel = None
        try:
            channel = take()
            message = encode(number)
            start = clock()
            answer = channel.ask(message)
            end = clock()
        except CallFailed as failed:
            tally.fail(number, failed)
            if channel is not None:
                drop(channel)
            failures += 1
            if failures == GIVE_UP_AFTER or tally.is_stuck:
                break
            continue
        count(start, end, due_ns)
        failures = 0
        if check(answer, number, start):
            give(channel)
        else:
            drop(channel)
        if end >= until_ns:
            break
    tally.sent, task.asked = tally.sent + number + 1 - first, number + 1


class WorkerThreads:
    """Threads that start together and share a list of tasks. A task is the requests of one client
    to one service.

    requests: number of requests of each task; None for as many as fit into slice_ns
    part: the slice of time, in whose lead only errors count; None if the requests count from the
        start
    begins_ns: for each thread, when it sends its first request; 0 for at once
    uncounted: number of answers to requests of the lead, for each thread
    done: for each thread, the counts of the tasks that it has done in a slice
    pace: requests per second of all tasks together, with a thread for each task
    arrivals: at a rate, the due times of each task's requests
    run_queue_ns: for each thread that has ended, how long it was ready to run without a core
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        begins_ns: Sequence[int],
        requests: int | None,
        slice_ns: int,
        pace: Pace,
        part: Slice | None,
    ) -> None:
        self._tasks = tasks
        self._waiting = deque(enumerate(tasks))
        self._requests = requests
        self._slice_ns = slice_ns
        self._pace = pace
        self.arrivals: list[Arrivals] = []
        self._part = part
        self._started_ns = 0
        self.run_queue_ns: list[int] = []
        self.uncounted: list[int] = []
        self.done: list[list[CallTally]] = []
        self._released = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(at_ns,), daemon=True) for at_ns in begins_ns
        ]
        for thread in self._threads:
            thread.start()

    def run(self, deadline_s: float) -> int:
        """Let the waiting threads start. Wait until they end, or until no answer has arrived for
        *deadline_s* seconds.

        Return the number of threads that have not ended.
        """
        self._started_ns = self._part.counts_from_ns if self._part else perf_counter_ns()
        self._released.set()
        answered, quiet_since = 0, perf_counter_ns()
        while alive := [thread for thread in self._threads if thread.is_alive()]:
            alive[0].join(min(1.0, deadline_s))
            now, so_far = perf_counter_ns(), sum(task.tally.answered for task in self._tasks)
            if so_far != answered:
                answered, quiet_since = so_far, now
            elif now - quiet_since > deadline_s * 1e9:
                return len(alive)
        return 0

    def _work(self, begins_ns: int) -> None:
        self._released.wait()
        until_ns, part, done = self._started_ns, self._part, list[CallTally]()
        wait_until(begins_ns)
        while taken := self._take(until_ns):
            place, task = taken
            if part and not done:
                self._call(task, place, None, part.at_ns, until_ns)
                self.uncounted.append(task.tally.end_lead(until_ns, part.until_ns))
            elif part:
                task.tally.last_ns = done[-1].last_ns
            done.append(task.tally)
            until_ns = until_ns + self._slice_ns if self._slice_ns else NEVER_NS
            arrivals = self._call(task, place, self._requests, self._started_ns, until_ns)
            if arrivals:
                self.arrivals.append(arrivals)
        self.done.append(done)
        self.run_queue_ns.append(thread_run_queue_ns())

    def _take(self, now_ns: int) -> tuple[int, Task] | None:
        """Return the next task and its number. Return None if no task is left, or no time of the
        slice for it.

        A thread that is too late for its own task leaves no time for it to the other threads.
        """
        if self._part and now_ns + self._slice_ns // 2 >= self._part.until_ns:
            return None
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def _call(
        self, task: Task, place: int, requests: int | None, begun_ns: int, until_ns: int
    ) -> Arrivals | None:
        """Send *requests* requests of *task*, or send until *until_ns*. If the rate is fixed,
        return the due times.
        """
        if task.tally.is_stuck:
            task.tally.errors[TIMEOUT] += 1
            return None
        if not self._pace.rate:
            if perf_counter_ns() < until_ns:  # a request of the lead may have lasted longer
                call(task, requests, until_ns)
            return None
        # the tasks share the rate, so their first requests are spread over one period of a task
        first_ns = begun_ns + round(place * 1e9 / self._pace.rate)
        pace = self._pace._replace(rate=self._pace.rate / len(self._tasks))
        arrivals = Arrivals(pace, first_ns, until_ns, requests)
        call(task, None, until_ns, AtRate(arrivals, task.tally.lag_recorder()))
        return arrivals


class CallerClient:
    """A client process, which has a task for the requests to each service, and threads that send
    the requests.

    Creating the client opens all connections that are kept. They stay open until the process ends.
    addresses: for every service, the addresses of its sockets
    limit_s: how long to wait for an answer in a protocol of the user's own
    """

    def __init__(
        self,
        system: System,
        cell: Cell,
        client_id: int,
        addresses: list[list[str]],
        method: Method = Method(),  # noqa: B008 - frozen
        limit_s: float = ANSWER_LIMIT_S,
    ) -> None:
        self._method = method
        self._cell = cell
        self._client_id = client_id
        # each client begins with another service
        turns = [(client_id + number) % len(addresses) for number in range(len(addresses))]
        self._tasks = [
            self._task(system, addresses[turn], Slowest(shared(len(turns)), turn), limit_s)
            for turn in turns
        ]
        self._threads = min(cell.num_threads_per_client, len(self._tasks))
        self._requests = None if method.duration_s else cell.num_requests_per_client
        self._stuck = 0
        self._running = self._gather(self._requests, method.duration_s)

    def warm_up(self) -> None:
        """Send the warm-up requests, and then reset the counts to zero."""
        requests, seconds = self._method.warmup_of(self._cell.num_requests_per_client)
        self._stuck = self._gather(requests, seconds).run(ANSWER_DEADLINE_S)
        for task in self._tasks:
            task.tally.clear()

    def run(self, deadline_s: float = ANSWER_DEADLINE_S) -> Json:
        """Send all requests, and return the client's result. Times are on this host's monotonic
        clock, in ns.

        If there is no answer for *deadline_s*, each thread that still waits counts as a `timeout`
        and is abandoned. After that, and after a warm-up in which it happened, nothing is sent any
        more.
        """
        for task in self._tasks:
            task.asked = 0  # the first timed request asks when its handler began
        return self._counted(self._running, perf_counter_ns(), deadline_s)

    def run_slice(self, part: Slice) -> Json:
        """Send requests for a slice, a short time with a given start. Return its counts, and reset
        them to zero.
        """
        running = self._gather(None, part.length_ns / 1e9, part)
        wait_until(part.at_ns)
        result = self._counted(running, part.counts_from_ns, ANSWER_DEADLINE_S)
        at_edges = time_at_edges(part, running.done)
        for task in self._tasks:
            task.tally.clear()
        return {
            **result,
            "uncounted": sum(running.uncounted),
            "connections": self._threads,
            **({} if self._cell.rate else at_edges),
        }

    def close(self) -> None:
        """Close the connection to each service, before the process ends."""
        for task in self._tasks:
            with suppress(CallFailed):
                task.caller.drop(task.caller.take())

    def _task(self, system: System, sockets: list[str], slowest: Slowest, limit_s: float) -> Task:
        """Return the task for the requests to one service. Connections that are kept are open."""
        cell = self._cell
        if system.decode:
            own = OwnTally(system, slowest)
            tally: CallTally = own
            caller = cached_caller(partial(StreamChannel, decode=own.decode, deadline_s=limit_s))
            encode = own.encode
        else:
            tally = CallTally(slowest, str(cell.calc_target))
            caller, message = loaded(system.caller), loaded(system.message)
            plain, probe = message(cell, False), message(cell, True)

            def encode(number: int) -> bytes:
                return plain if number % PROBE_EVERY else probe

        calling = caller(cell, self._client_id, sockets, tally.connect.record)
        calling.open()
        return Task(caller=calling, encode=encode, tally=tally)

    def _counted(self, running: WorkerThreads, started_ns: int, deadline_s: float) -> Json:
        stuck = self._stuck = self._stuck or running.run(deadline_s)
        finished_ns = perf_counter_ns()
        total = CallTally()  # of answers in a protocol of the user's own, too
        for task in self._tasks:
            total.merge(task.tally)
        total.errors += Counter(timeout=stuck)
        sent, due = total.sent + stuck, sum(arrivals.due() for arrivals in running.arrivals)
        # without a duration, requests that were given up count, too
        total.sent = len(self._tasks) * self._requests if self._requests else sent
        return {
            **total.to_result(started_ns, finished_ns),
            "run_queue_ns": sum(running.run_queue_ns),
            **({"overdue": due - sent} if self._cell.rate else {}),
        }

    def _gather(
        self, requests: int | None, seconds: float, part: Slice | None = None
    ) -> WorkerThreads:
        rounds = -(-len(self._tasks) // self._threads)  # a thread divides the time among its tasks
        slice_ns = round(seconds / rounds * 1e9)
        begins_ns = [0] * self._threads
        if part and not self._cell.rate:
            clients = self._cell.num_clients
            begins_ns = [
                part.begins_ns(place * clients + self._client_id, clients * self._threads)
                for place in range(self._threads)
            ]
        pace = Pace(self._cell.rate, self._method.poisson)
        return WorkerThreads(self._tasks, begins_ns, requests, slice_ns, pace, part)
