"""Implement the child's side of the protocol between orchestrator and measured processes
(docs/child-contract.md).

The first line of stdin is the cell. The first line of stdout is `ready`, and the last line is the
result. The child stops at the end of file on stdin.

Children in Python use it: systems/__main__.py, lab/user_service/service_child.py and the programs
echo_program.py and peers.py of experiments/. The orchestrator takes only values from here, such as
Slice. Measured processes import it, so it needs the standard library alone.
A new word or key also belongs in docs/child-contract.md, record/child_lines.py and native/contract.
"""

import json
import os
import resource
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter_ns, sleep
from typing import NoReturn

from core.messages import Json
from core.processtree import (
    peak_memory_bytes,
    proportional_memory_bytes,
    ran_and_waited_ns,
    run_queue_ns,
)
from core.runtime import facts

# exit status of a child that ends before it has printed a result
STOPPED_EARLY = 3
TIMEOUT = "timeout"  # the code of a request without an answer in time, in a client's `errors`
# what was expected of a request that failed; native/loadgen/src/engine/reuse.rs says the same
AN_ANSWER = "an answer"
# the part of the golden ratio after the point, and 1, both times 2**64
_GOLDEN, _WHOLE = (
    0x9E3779B97F4A7C15,
    1 << 64,
)  # multiples of the golden ratio, modulo 1, are evenly spread


def read_cell() -> Json:
    """Read the first line of stdin, which the orchestrator wrote: what to measure, and the role.
    Restrict this process to the CPUs that it names, if any. Raises OSError for a missing CPU.
    """
    first_line: Json = json.loads(sys.stdin.readline())
    if cpus := first_line.get("cpus"):
        os.sched_setaffinity(0, cpus)
    return first_line


def print_ready(addresses: list[str], runtime: Json | None = None) -> None:
    """Print the first line of stdout: the addresses at which this child listens, and the facts of
    its runtime.

    addresses: empty for a client
    runtime:   given if this child stands for another program; the default is the facts of this
               interpreter
    """
    _print_line(
        {"ready": True, "pid": os.getpid(), "addresses": addresses, "runtime": runtime or facts()}
    )


def print_result(result: Json) -> None:
    """Print *result* as the last line of stdout."""
    _print_line({"result": result})


def exit_at_once(status: int = 0) -> NoReturn:
    """End the process without waiting for its threads."""
    sys.stderr.flush()
    os._exit(status)


def next_command() -> str:
    """Read the next line of stdin: `warm`, `reset`, `go` or `slice`. Return "" at the
    end of file.
    """
    return sys.stdin.readline().strip()


def print_done(word: str) -> None:
    """Print that the command *word*, `warm` or `reset`, is done."""
    _print_line({word: True})


def resets() -> Iterator[None]:
    """Yield for each `reset` that a service reads, and print that it is done when the caller goes
    on. Ignore the other commands, which are for clients. End at the end of file.
    """
    while word := next_command():
        if word == "reset":
            yield
            print_done(word)


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A slice of time in which a client sends requests. A request counts if it starts after the
    first lead_ns.

    at_ns:      when the slice begins, on this host's monotonic clock
    lead_ns:    time before counting starts
    length_ns:  time after lead_ns. The requests that start in it count, and each is awaited
    stagger_ns: the connections send their first requests at different times of the first stagger_ns
    """

    at_ns: int = 0
    lead_ns: int
    length_ns: int
    stagger_ns: int = 0

    @property
    def counts_from_ns(self) -> int:
        """Return the time from which requests count, on this host's monotonic clock."""
        return self.at_ns + self.lead_ns

    @property
    def until_ns(self) -> int:
        """Return the time at which this slice of time ends, on this host's monotonic clock."""
        return self.counts_from_ns + self.length_ns

    def begins_ns(self, place: int, of: int) -> int:
        """Return when connection *place* (0, 1, ...) of *of* sends its first request. All clients
        of the cell count their connections together.

        The connections are evenly spread over stagger_ns, from another beginning in each slice. So
        the number of requests that start in length_ns is right on average, even if all requests
        take equally long.
        """
        phase = self.at_ns * _GOLDEN % _WHOLE
        return self.at_ns + self.stagger_ns * (place * _WHOLE + phase) // (of * _WHOLE)

    def __str__(self) -> str:
        return f"slice {self.at_ns} {self.lead_ns} {self.length_ns} {self.stagger_ns}"


def parse_release(word: str) -> int | Slice | None:
    """Parse a command that starts a client's requests.

    Return the time for `go` (this host's monotonic clock; 0 means now), a Slice for `slice`, None
    for another command.
    Raises ValueError if an argument of the command is not a number.
    """
    name, *numbers = word.split(" ")
    if name == "slice":
        at_ns, lead_ns, length_ns, stagger_ns = map(int, numbers)
        return Slice(at_ns=at_ns, lead_ns=lead_ns, length_ns=length_ns, stagger_ns=stagger_ns)
    return sum(map(int, numbers)) if name == "go" else None


def wait_until(at_ns: int) -> None:
    """Sleep until perf_counter_ns() reaches *at_ns*."""
    while (left_ns := at_ns - perf_counter_ns()) > 0:
        sleep(left_ns / 1e9)


class ParentWatch:
    """A thread that reads stdin and ends this process at the end of file, whatever other threads
    do.

    The exit status is 0 after a printed result, otherwise STOPPED_EARLY. next_command() returns the
    lines read.
    """

    def __init__(self) -> None:
        self._said = False
        self._words: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._watch, name="parent watch", daemon=True).start()

    def print_result(self, result: Json) -> None:
        """Print the result of a measurement. This process keeps its connections and memory until
        its next command.
        """
        self._said = True
        print_result(result)

    def next_command(self) -> str:
        """Return the next line of stdin. The process ends at the end of file."""
        word = self._words.get()
        self._said = False
        return word

    def _watch(self) -> None:
        while line := sys.stdin.readline():
            self._words.put(line.strip())
        exit_at_once(0 if self._said else STOPPED_EARLY)


def _print_line(message: Json) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class ProcessTimes:
    """A snapshot of this process's CPU times and context switches. Later readings are counted from
    this snapshot.

    of: resource.RUSAGE_CHILDREN for ended child processes in place of this process
    """

    def __init__(self, of: int = resource.RUSAGE_SELF) -> None:
        self._of = of
        self._start = resource.getrusage(of)

    def to_json(self) -> dict[str, int]:
        """Return CPU times (ns) and context switches since the snapshot."""
        start, now = self._start, resource.getrusage(self._of)
        return {
            "cpu_user_ns": round((now.ru_utime - start.ru_utime) * 1e9),
            "cpu_system_ns": round((now.ru_stime - start.ru_stime) * 1e9),
            "voluntary_switches": now.ru_nvcsw - start.ru_nvcsw,
            "involuntary_switches": now.ru_nivcsw - start.ru_nivcsw,
        }


class Usage(ProcessTimes):
    """A snapshot of this process's resource usage. Later usage is counted from this snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self._run_queue_ns = run_queue_ns()

    def to_json(self) -> dict[str, int]:
        """Return CPU times, run-queue time (ns) and context switches since the snapshot, and memory
        in bytes.

        max_rss_bytes is the peak, pss_bytes the present proportional set size. Both are 0 if the
        system reports none. /proc is read first, because on Linux ru_maxrss starts at the parent's
        value: docs/decisions/006-peak-memory.md.
        """
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak_bytes = peak if sys.platform == "darwin" else peak * 1024
        return {
            **super().to_json(),
            "run_queue_ns": max(
                0, run_queue_ns() - self._run_queue_ns
            ),  # threads that have ended are missing
            "max_rss_bytes": peak_memory_bytes("self") or peak_bytes,
            "pss_bytes": proportional_memory_bytes("self"),
        }


def thread_run_queue_ns() -> int:
    """Return how long the calling thread has been ready to run without a core, in ns.

    Threads must ask before they end, because run_queue_ns() does not see threads that have ended.
    """
    return ran_and_waited_ns("thread-self")[1]
