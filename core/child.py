"""The child contract, the child's side: docs/child-contract.md.

First line of stdin: the cell. First line of stdout: ready. Last line of stdout: the result. End of file on
stdin: stop.
"""

import json
import os
import resource
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter_ns, sleep
from typing import Any, NoReturn

from core.processtree import peak_memory_bytes, proportional_memory_bytes
from core.runtime import facts

STOPPED_EARLY = 3


def read_cell() -> dict[str, Any]:
    """The first line of stdin: the cell, and this child's place in it. Raises ValueError if it is not a JSON object."""
    first_line = json.loads(sys.stdin.readline())
    if type(first_line) is not dict:
        raise ValueError("the first line of standard input must be a cell, a JSON object")
    return first_line


def say_ready(addresses: list[str], runtime: Mapping[str, Any] | None = None) -> None:
    """First line of stdout: where this child listens (clients: nowhere), and the facts of its runtime.

    runtime: of a child that speaks for another program; otherwise the facts of this interpreter
    """
    known = facts() if runtime is None else dict(runtime)
    _say({"ready": True, "pid": os.getpid(), "addresses": addresses, "runtime": known})


def say_result(result: Mapping[str, Any]) -> None:
    """Last line of stdout."""
    _say({"result": result})


def exit_at_once(status: int = 0) -> NoReturn:
    """Exit without waiting for threads."""
    sys.stderr.flush()
    os._exit(status)


def next_word() -> str:
    """The next line of stdin: `warm`, `reset`, `go` or `slice`; empty at end of file."""
    return sys.stdin.readline().strip()


def say_done(word: str) -> None:
    """Answer `warm` or `reset`: it is done."""
    _say({word: True})


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A part of the timed requests: a client sends for lead_ns and length_ns, and counts what is answered in the last.

    at_ns: when it begins, a time of this host's monotonic clock
    """

    at_ns: int = 0
    lead_ns: int
    length_ns: int

    @property
    def counts_from_ns(self) -> int:
        """When the first answer that counts may come."""
        return self.at_ns + self.lead_ns

    @property
    def until_ns(self) -> int:
        """When it ends."""
        return self.counts_from_ns + self.length_ns

    def __str__(self) -> str:
        return f"slice {self.at_ns} {self.lead_ns} {self.length_ns}"


def release(word: str) -> int | Slice | None:
    """What releases a client: `go` with a time of this host's monotonic clock (0: at once), or a slice. None: neither.

    Raises ValueError for one of them with anything but numbers.
    """
    name, *numbers = word.split(" ")
    if name == "slice":
        at_ns, lead_ns, length_ns = map(int, numbers)
        return Slice(at_ns=at_ns, lead_ns=lead_ns, length_ns=length_ns)
    return sum(map(int, numbers)) if name == "go" else None


def wait_until(at_ns: int) -> None:
    """Sleep until perf_counter_ns() says *at_ns*."""
    while (left_ns := at_ns - perf_counter_ns()) > 0:
        sleep(left_ns / 1e9)


def stay_on(cpus: Sequence[int]) -> None:
    """Run on *cpus* only; empty leaves the choice to the kernel. Raises OSError if there are no such CPUs."""
    if cpus:
        os.sched_setaffinity(0, cpus)


class ParentWatch:
    """Ends this process at end of file on stdin, whatever other threads do: with status 0 after a result.

    next_word() returns the lines before that.
    """

    def __init__(self) -> None:
        self._said = False
        self._words: SimpleQueue[str] = SimpleQueue()
        self._thread = threading.Thread(target=self._watch, name="parent watch", daemon=True)
        self._thread.start()

    def say_result(self, result: Mapping[str, Any]) -> None:
        """Print a result; connections and memory stay as they are until the next word, or the end of the process."""
        self._said = True
        say_result(result)

    def next_word(self) -> str:
        """The next line of stdin. At end of file the process ends."""
        word = self._words.get()
        self._said = False
        return word

    def _watch(self) -> None:
        while line := sys.stdin.readline():
            self._words.put(line.strip())
        sys.stderr.flush()
        os._exit(0 if self._said else STOPPED_EARLY)


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class Usage:
    """What the operating system has counted for this process since the object was made."""

    def __init__(self) -> None:
        self._start = resource.getrusage(resource.RUSAGE_SELF)
        self._run_queue_ns = run_queue_ns()

    def to_json(self) -> dict[str, int]:
        """CPU times, waiting for a core (ns) and context switches since the start; memory of the process in bytes.

        max_rss_bytes is its peak, pss_bytes its proportional share now, 0 where the system does not say.
        """
        start, now = self._start, resource.getrusage(resource.RUSAGE_SELF)
        return {
            "cpu_user_ns": round((now.ru_utime - start.ru_utime) * 1e9),
            "cpu_system_ns": round((now.ru_stime - start.ru_stime) * 1e9),
            "voluntary_switches": now.ru_nvcsw - start.ru_nvcsw,
            "involuntary_switches": now.ru_nivcsw - start.ru_nivcsw,
            "run_queue_ns": max(0, run_queue_ns() - self._run_queue_ns),  # threads that have ended are counted no more
            "max_rss_bytes": own_peak_memory_bytes(),
            "pss_bytes": proportional_memory_bytes("self"),
        }


def own_peak_memory_bytes() -> int:
    """Largest resident set of this process.

    On Linux ru_maxrss of a child starts at its parent's, so /proc comes first: docs/decisions/006-peak-memory.md.
    """
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak_memory_bytes("self") or (peak if sys.platform == "darwin" else peak * 1024)


def run_queue_ns(process: int | str = "self") -> int:
    """How long the threads of *process* have been ready to run without a core, in ns. 0 where /proc does not say.

    process: this one, or another by its id

    Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat: the second number.
    """
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return 0
    return sum(_schedstat_wait_ns(f"/proc/{process}/task/{thread}/schedstat") for thread in threads)


def thread_run_queue_ns() -> int:
    """The same for the calling thread alone: a thread that has ended is no longer counted by run_queue_ns()."""
    return _schedstat_wait_ns("/proc/thread-self/schedstat")


def _schedstat_wait_ns(path: str) -> int:
    try:
        with open(path, encoding="ascii") as schedstat:
            return int(schedstat.read().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
