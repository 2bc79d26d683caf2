"""Waits for a core, seen on processes that share one."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter_ns

import pytest

from lab.run.core_waits import STEAL, CoreWaitSampler
from tests.started import Started, started

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux: /proc/PID/schedstat")
SPINNING = """
import os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print("ready", flush=True)
sys.stdin.readline()
while time.process_time() < 0.15:
    pass
print("done", flush=True)
sys.stdin.readline()
"""


@contextmanager
def spinning(count: int) -> Iterator[list[Started]]:
    """Processes that wait to be told, then use 0.15 s of the same core each."""
    with ExitStack() as stack:
        yield [stack.enter_context(started(sys.executable, "-c", SPINNING)) for _ in range(count)]


def test_of_processes_that_share_a_core_each_waits_for_most_of_the_time() -> None:
    with spinning(3) as processes:
        pids = {"three": [process.pid for process in processes], "nobody": [2**22 + 1]}
        start_ns = perf_counter_ns()
        with CoreWaitSampler(pids) as watch:
            for process in processes:
                process.say("")
            assert all(process.hear() for process in processes)
        length_ns = perf_counter_ns() - start_ns
    assert set(watch.timelines) == {"three", STEAL}
    assert 0.4 < watch.timelines["three"].within_ns(start_ns, start_ns + length_ns) / length_ns <= 1


def test_too_many_threads_are_not_known_rather_than_known_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.run.core_waits.MOST_THREADS", 1)
    with spinning(2) as (one, other), CoreWaitSampler({"one": [one.pid], "other": [other.pid]}) as watch:
        pass
    assert watch.timelines == {}
