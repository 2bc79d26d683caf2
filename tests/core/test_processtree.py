"""What real processes and their children have used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.processtree import descendants, tree, tree_ran_ns, usage_of, usage_since
from tests.started import started

MEBIBYTE = 2**20
CHILD = """
import subprocess, sys, time
held = b"x" * {held}
spent = time.process_time()
while time.process_time() - spent < {busy_s}:
    pass
{more}
print(1, flush=True)
sys.stdin.readline()
"""
WITH_CHILD = """
child = subprocess.Popen([sys.executable, "-c", {code!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted by /proc")


def test_memory_and_cpu_of_a_child_count_for_the_tree_of_a_process_and_its_descendants_parents_first() -> None:
    held = 50 * MEBIBYTE
    inner = CHILD.format(held=held, busy_s=0.2, more="")
    program = CHILD.format(held=held, busy_s=0.1, more=WITH_CHILD.format(code=inner))
    with started(sys.executable, "-c", program) as process:
        pid = process.pid
        used, pids = usage_of(tree(pid)), tree(pid)
        assert (pids[0], len(pids), pids[1:]) == (pid, 2, descendants(pid))
        assert set(pids) < set(tree(os.getpid()))
        assert usage_of(pids[1:])["processes"] == 1
    assert used["processes"] == 2
    assert 300_000_000 - 40_000_000 <= used["cpu_user_ns"] + used["cpu_system_ns"] < 3_000_000_000
    assert used["max_rss_bytes"] > 2 * held
    assert used["pss_bytes"] == 0 or used["pss_bytes"] > 2 * held
    assert used["voluntary_switches"] > 0


def test_what_was_used_before_is_taken_off_and_memory_is_as_it_is_now() -> None:
    nothing = usage_of([])
    before = nothing | {"processes": 1, "cpu_user_ns": 50, "voluntary_switches": 9, "max_rss_bytes": 100}
    now = nothing | {"processes": 2, "cpu_user_ns": 80, "voluntary_switches": 5, "max_rss_bytes": 300}
    assert usage_since(before, now) == now | {"cpu_user_ns": 30, "voluntary_switches": 0}


def test_a_process_that_has_ended_has_no_usage() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    assert tree(process.pid) == []
    assert usage_of([process.pid]) == usage_of([])


ENDING = """
import os, sys, threading, time
def burn():
    begun = time.thread_time()
    while time.thread_time() - begun < 0.1:
        pass
print("begun", flush=True)
sys.stdin.readline()
for _ in range(3):
    if os.fork() == 0:
        burn()
        os._exit(0)
    os.wait()
thread = threading.Thread(target=burn)
thread.start()
thread.join()
burn()
print("ended", flush=True)
sys.stdin.readline()
"""


def test_cpu_time_of_a_tree_has_that_of_processes_and_threads_that_have_ended() -> None:
    with started(sys.executable, "-c", ENDING) as process:
        before_ns = tree_ran_ns(process.pid)
        process.say("")
        process.hear()
        assert 500e6 - 50e6 <= tree_ran_ns(process.pid) - before_ns < 700e6
