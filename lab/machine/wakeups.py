"""Measure the wake-up latency of a CPU core, and keep cores awake during a run (KEEP_AWAKE)."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from time import perf_counter_ns

from core.errors import BadInput

ROUNDS = 500
LONGEST_NS = 300_000_000
_SCRIPT = Path(__file__).with_name("awake.py")


def require_idle_class() -> None:
    """Raise BadInput if this platform cannot keep CPU cores awake."""
    if not hasattr(os, "SCHED_IDLE"):
        raise BadInput(
            "KEEP_AWAKE is true, but {platform} lacks the Linux scheduling policy SCHED_IDLE. Use --keep-awake false.",
            platform=sys.platform,
        )


@contextmanager
def kept_awake(wanted: bool = True, process_group: int | None = None) -> Iterator[list[int]]:
    """If *wanted*, keep all usable cores awake during the `with` block. Yield the pids of the processes that do so.

    These processes end with the `with` block, or when this process ends.
    process_group: the process group that they join
    Raises BadInput if no process can be started.
    """
    pids: list[int] = []
    command = [sys.executable, "-I", "-S", str(_SCRIPT), str(os.getpid())]
    with ExitStack() as keeping:
        if wanted:
            with suppress(OSError):
                keeper = subprocess.Popen(
                    [*command, *map(str, sorted(os.sched_getaffinity(0)))],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    process_group=process_group,
                )
                keeping.enter_context(keeper)
                pids = [int(pid) for pid in keeper.stdout.readline().split()] if keeper.stdout else []
            if not pids:
                raise BadInput(
                    "KEEP_AWAKE is true, but no process that keeps cores awake could be started. End some processes, "
                    "or raise the limit (ulimit -u)."
                )
        yield pids


def wakeups() -> dict[str, int | None]:
    """Measure the wake-up latency of idle cores and of cores kept awake; None if it cannot be measured."""
    if not hasattr(os, "SCHED_IDLE") or len(cpus := sorted(os.sched_getaffinity(0))) < 2:
        return {"wakeup_idle_ns": None, "wakeup_awake_ns": None}
    idle_ns = _measure_wakeup_ns(cpus)
    with kept_awake():
        return {"wakeup_idle_ns": idle_ns, "wakeup_awake_ns": _measure_wakeup_ns(cpus)}


def _measure_wakeup_ns(cpus: Sequence[int]) -> int:
    """Return half of the median time that a byte needs to another process on another core and back."""
    asked, ask = os.pipe()
    answered, answer = os.pipe()
    pid = os.fork()
    if not pid:
        _echo(asked, answer, (ask, answered), cpus[1])
    for end in (asked, answer):
        os.close(end)
    mine = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus[:1])
        return round(median(_rounds_ns(ask, answered)) / 2)
    finally:
        os.sched_setaffinity(0, mine)
        for end in (ask, answered):
            os.close(end)
        os.waitpid(pid, 0)


def _rounds_ns(ask: int, answered: int) -> list[int]:
    times_ns: list[int] = []
    began_ns = perf_counter_ns()
    while len(times_ns) < ROUNDS and perf_counter_ns() - began_ns < LONGEST_NS:
        start_ns = perf_counter_ns()
        os.write(ask, b"x")
        os.read(answered, 1)
        times_ns.append(perf_counter_ns() - start_ns)
    return times_ns


def _echo(asked: int, answer: int, others: Sequence[int], cpu: int) -> None:
    """Send each received byte back until the pipe is closed, then exit. Call this in the forked process."""
    try:
        for end in others:
            os.close(end)
        os.sched_setaffinity(0, {cpu})
        while byte := os.read(asked, 1):
            os.write(answer, byte)
    finally:
        os._exit(0)
