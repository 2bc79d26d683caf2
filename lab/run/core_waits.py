"""Samples how long the threads of a cell wait for a CPU core, and how much CPU time the hypervisor
steals.

A thread of the orchestrator reads the kernel's counters while the clients send. It uses at most the
share COST of one core, and adds no work to a request.
lab/run/measure.py runs one CoreWaitSampler during the turns of all arms, and lab/run/slow.py
explains slow requests by its timelines. Without these counters, as on other systems than Linux, the
timelines are empty.
Source: sched-stats.rst (/proc/PID/task/TID/schedstat: ns on a core, ns ready without a core),
    proc_stat(5).
"""

import os
import threading
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from time import perf_counter_ns, thread_time_ns
from typing import Any

from core.processtree import threads_of

SHORTEST_S = 0.01  # the shortest pause between two samples
COST = 0.002  # the largest share of one core that sampling uses on average
# after this many samples the pauses grow with the run: 2,000 more for each 2.7 times of its length
LOOKS = 2000
MOST_THREADS = 512  # of all processes of a cell, because one file per thread stays open
STEAL = "steal"  # the name of a timeline, beside the names of the groups
_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")  # the unit of /proc/stat
# columns of /proc/stat: user, nice, system, irq, softirq; steal
_BUSY, _STOLEN = (0, 1, 2, 5, 6), 7


class CumulativeTime:
    """A growing total of time: its values at moments in ascending order, with linear interpolation
    between them.

    until_ns: the total, not a moment: how much had been reached at each of *moments_ns*. Before the
        first moment and after the last one, the total does not change
    """

    def __init__(self, moments_ns: Sequence[int], until_ns: Sequence[float]) -> None:
        self._moments_ns, self._until_ns = moments_ns, until_ns

    @classmethod
    def of_spans(cls, spans: Iterable[tuple[int, int]]) -> "CumulativeTime":
        """Return the cumulative time covered by at least one of *spans*, which are pairs of start
        and end in ns.
        """
        moments_ns, until_ns = [0], [0]
        for start_ns, end_ns in sorted(spans):
            if end_ns > (start_ns := max(start_ns, moments_ns[-1])):
                moments_ns += start_ns, end_ns
                until_ns += until_ns[-1], until_ns[-1] + end_ns - start_ns
        return cls(moments_ns, until_ns)

    def within_ns(self, start_ns: int, end_ns: int) -> float:
        """Return how much this cumulative time, such as time spent waiting, grew from *start_ns* to
        *end_ns*, in ns.
        """
        return self._at(end_ns) - self._at(start_ns)

    def _at(self, moment_ns: int) -> float:
        after = bisect_right(self._moments_ns, moment_ns)
        if not 0 < after < len(self._moments_ns):
            return self._until_ns[min(after, len(self._moments_ns) - 1)]
        (left, right), (low, high) = (
            of[after - 1 : after + 1] for of in (self._moments_ns, self._until_ns)
        )
        return low + (high - low) * (moment_ns - left) / (right - left)


def _machine_ns() -> tuple[int, int]:
    """Return how long all cores of this machine were busy since boot, and how much the hypervisor
    stole, in ns.
    """
    with open("/proc/stat", "rb") as file:
        ticks = [int(word) for word in file.readline().split()[1:]]
    return sum(ticks[column] for column in _BUSY) * _TICK_NS, ticks[_STOLEN] * _TICK_NS


class CoreWaitSampler:
    """A sampler that measures how long groups of processes wait for a CPU core during the `with`
    block.

    pids: the processes by the name of their group; any key may be a name, such as a Child
    timelines: after the block, by the name of the group, the time in which a ready thread had no
        core; under the name STEAL, the CPU time that the hypervisor stole; empty if that is unknown
    This time is the smaller of two: the sum of all waits; and the elapsed time multiplied by waited
    / (ran + waited).
    """

    def __init__(self, pids: Mapping[Any, Sequence[int]]) -> None:
        self._pids, self._machine_ns = pids, (0, 0)
        # by path an open file, because opening it costs more than reading it, and its last numbers
        self._threads: dict[str, tuple[int, int, int]] = {}
        self._moments_ns: list[int] = []
        self._until_ns: dict[Hashable, list[float]] = {name: [0.0] for name in (STEAL, *pids)}
        self._ran_ns = dict.fromkeys(self._until_ns, 0)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="cores", daemon=True)
        self.timelines: Mapping[Any, CumulativeTime] = {}

    def __enter__(self) -> "CoreWaitSampler":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.set()
        self._thread.join()
        for path in [*self._threads]:
            self._forget(path)
        self.timelines = {
            name: CumulativeTime(self._moments_ns, self._until_ns[name])
            for name, ran_ns in self._ran_ns.items()
            if ran_ns  # 0 on a kernel without these counters
        }

    def _watch(self) -> None:
        if not self._pids:  # all children run on other hosts
            return
        try:
            self._look()
            began_ns = thread_time_ns()
            while not self._ending.wait(self._pause_s(thread_time_ns() - began_ns)):
                self._look()
            self._look()
        except (OSError, ValueError, IndexError):
            # then no timeline counts as known: part of the waits would be missing
            self._ran_ns.clear()

    def _pause_s(self, spent_ns: int) -> float:
        """Return the pause before the next sample in s. The pause keeps the sampling cost below
        COST of one core.
        """
        elapsed_ns = perf_counter_ns() - self._moments_ns[0]
        return max(SHORTEST_S, (spent_ns / COST - elapsed_ns) / 1e9, elapsed_ns / LOOKS / 1e9)

    def _look(self) -> None:
        busy_ns, stolen_ns = _machine_ns()
        since = {
            STEAL: (busy_ns - self._machine_ns[0], stolen_ns - self._machine_ns[1]),
            **self._threads_ns(),
        }
        self._machine_ns = busy_ns, stolen_ns
        now_ns = perf_counter_ns()
        # The first sample is only what later ones are compared with.
        if self._moments_ns:
            passed_ns = max(1, now_ns - self._moments_ns[-1])
            for name, (ran_ns, waited_ns) in since.items():
                share = min(waited_ns / passed_ns, waited_ns / max(1, ran_ns + waited_ns))
                self._until_ns[name].append(self._until_ns[name][-1] + share * passed_ns)
                self._ran_ns[name] += ran_ns
        self._moments_ns.append(now_ns)

    def _threads_ns(self) -> dict[Hashable, tuple[int, int]]:
        """Return how long the threads of each group ran and waited since the last call, or since
        their start, in ns.

        Raises OSError if there are more than MOST_THREADS threads.
        """
        paths: dict[str, Hashable] = {}
        for name, pids in self._pids.items():
            for pid in pids:
                paths |= {f"/proc/{pid}/task/{tid}/schedstat": name for tid in threads_of(pid)}
        for path in self._threads.keys() - paths.keys():
            self._forget(path)
        if len(paths) > MOST_THREADS:
            raise OSError("too many threads")
        since = dict.fromkeys(self._pids, (0, 0))
        for path, name in paths.items():
            try:
                if path not in self._threads:
                    self._threads[path] = os.open(path, os.O_RDONLY), 0, 0
                file, ran_before, waited_before = self._threads[path]
                ran, waited, _ = map(int, os.pread(file, 64, 0).split())
            except (FileNotFoundError, ProcessLookupError, ValueError):
                self._forget(path)
                continue
            ran_ns, waited_ns = since[name]
            since[name] = ran_ns + ran - ran_before, waited_ns + waited - waited_before
            self._threads[path] = file, ran, waited
        return since

    def _forget(self, path: str) -> None:
        if path in self._threads:
            os.close(self._threads.pop(path)[0])
