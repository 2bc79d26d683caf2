"""Cores that are held awake, by whom and for how long."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.messages import BadInput
from lab.machine.quiet import snapshot, trees, used_ticks
from lab.machine.wakeups import awake
from lab.places import REPOSITORY
from lab.run.feasible import preflight
from tests.config.planning import planned
from tests.lab.hosts.namespaces import wait_until
from tests.started import started

DEADLINE_S = 60.0
LINUX = pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux has an idle class")
HOLDER = "from lab.machine.wakeups import awake\nfor pids in awake():\n    print(*pids, flush=True)\n    input()"


def expect_gone(pids: list[int]) -> None:
    """A process of the idle class gets some 3 ms of a core in a second, where that is busy, and needs them to end."""
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), "they have ended", DEADLINE_S)


@LINUX
def test_each_core_is_held_by_a_child_of_the_idle_class_until_the_block_ends() -> None:
    before = snapshot()
    with contextmanager(awake)() as pids:
        assert len(pids) == len(os.sched_getaffinity(0))
        wait_until(lambda: {*map(os.sched_getscheduler, pids)} == {os.SCHED_IDLE}, "the idle class", DEADLINE_S)
        assert set().union(*map(os.sched_getaffinity, pids)) == os.sched_getaffinity(0)
        wait_until(lambda: max(map(user_ticks, pids)) > 0, "one of them has run for a tick", DEADLINE_S)
        ticks = max(map(user_ticks, pids))
    after = snapshot()
    assert used_ticks(before, after, trees(after.processes, [os.getpid()])) >= ticks
    expect_gone(pids)


@LINUX
def test_they_end_when_the_run_is_killed() -> None:
    with started(sys.executable, "-c", HOLDER, cwd=REPOSITORY) as holder:
        pids = [int(pid) for pid in holder.first.split()]
        assert pids
    expect_gone(pids)


def user_ticks(pid: int) -> int:
    """User time of a process. Source: proc_pid_stat(5), the 14th field."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def test_a_system_without_an_idle_class_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "SCHED_IDLE", raising=False)
    with pytest.raises(BadInput, match="--keep-awake false"):
        preflight(planned("--system 4 --runtime 3.14 --keep-awake true"))
