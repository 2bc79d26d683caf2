"""What memory is made of: mappings and statistics by hand, and a real process that is asked."""

import os
import re
import subprocess
from itertools import count
from pathlib import Path

import pytest

from core.inside.memory import END
from lab.profile import memory
from lab.profile.memory import MemoryWatcher, merge_moments, parse_heap, sizes_by_kind, sum_heaps
from lab.run.instrumentation import Instrumentation
from lab.run.runtimes import Runtime
from tests.lab.hosts.namespaces import wait_until
from tests.started import started

# As 3.14.7t has them: start-end, mode, inode, Pss in kB, name. These are mimalloc, the program, its data, the heap, an
# arena of malloc and the rest of its 64 MiB, a guard, the stack above it, another mapping, the stack, and the kernel's.
MAPPINGS = """\
21af2000000-21b32000000 rw-p 0 5000
558777400000-558777861000 r-xp 77 900 /usr/bin/python3.14t
558777861000-5587778d3000 rw-p 0 10
5587acae9000-5587acb26000 rw-p 0 200 [heap]
7f0b00000000-7f0b00021000 rw-p 0 30
7f0b00021000-7f0b04000000 ---p 0 0
7f0b0d288000-7f0b0d289000 ---p 0 0
7f0b0d289000-7f0b0da89000 rw-p 0 12
7f0b0da89000-7f0b0da8d000 rw-p 0 4
7ffe617a8000-7ffe617c9000 rw-p 0 40 [stack]
7ffe617f0000-7ffe617f4000 r--p 0 0 [vvar]
"""
SMAPS = re.sub(
    r"(\S+ \S+) (\d+) (\d+)(.*)", r"\1 00000000 00:00 \2\4\nSize: 8 kB\nPss:  \3 kB\nPss_Dirty: 1 kB", MAPPINGS
)
STATISTICS = """
2 arenas * 1048576 bytes/arena     =            2,097,152

# bytes in allocated blocks        =            1,423,744
# bytes in available blocks        =              283,120
"""
GROWS = """
import signal, sys
print(flush=True)
kept = []
for _ in range(3):
    sys.stdin.readline()
    kept.append([object() for _ in range(100_000)])
    print(flush=True)
sys.stdin.readline()
print("mine", file=sys.stderr)
"""


def test_mappings_are_told_apart_by_how_they_lie() -> None:
    sizes = {kind: size_bytes // 1024 for kind, size_bytes in sizes_by_kind([SMAPS]).items()}
    assert sizes == {"files": 900, "stacks": 52, "c_heap": 230, "objects": 5014}


def test_what_is_no_smaps_counts_for_nothing() -> None:
    assert {sum(sizes_by_kind([text]).values()) for text in ("", "7f-1 rw-p\nPss: many kB\n", "Pss: 4 kB\n")} == {0}


def test_pymallocs_statistics_say_what_is_in_use_and_free() -> None:
    assert parse_heap(STATISTICS) == {"in_use": 1_423_744, "free": 2_097_152 - 1_423_744}
    assert parse_heap("    Allocated Bytes: 0\n") == {}
    assert parse_heap(STATISTICS.replace("2,097,152", "7")) == {}


def test_heaps_of_all_processes_are_added_up_only_where_all_have_answered_each_time() -> None:
    whole = (STATISTICS + END) * 4
    assert sum_heaps([whole, whole]) == [{"in_use": 2_847_488, "free": 1_346_816}] * 4
    assert sum_heaps([]) == sum_heaps([whole, STATISTICS + END]) == sum_heaps([END * 4]) == []


def test_moments_have_the_start_and_the_answers_where_they_are_known() -> None:
    moments = {moment: {"files": 1, "objects": 2} for moment in memory.MOMENTS}
    known = merge_moments(moments, [SMAPS], [(STATISTICS + END) * 4])
    assert (known["start"]["files"], known["idle"]["in_use"]) == (900 * 1024, 1_423_744)
    assert merge_moments(moments, [], []) == moments


def test_a_process_is_seen_to_grow_and_goes_on_as_if_it_was_not_asked(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "IDLE_S", 0.0)
    asked, inside = count(1), Instrumentation(tmp_path, {"memory": {}})

    def until_answered(pause_s: float) -> None:
        """In place of a pause, in which a busy machine may do something else: two signals at once have one answer."""
        if pause_s:
            number = next(asked)
            wait_until(lambda: said(inside).count(END) >= number, f"answer {number}", 60.0)

    monkeypatch.setattr(memory, "sleep", until_answered)
    environment = {"PATH": os.environ["PATH"], **runtime.variables, **inside.variables}
    moments = MemoryWatcher(skipped=0)
    python = runtime.interpreter.executable
    with started(python, "-c", GROWS, env=environment, stderr=subprocess.PIPE) as grows:
        moments.listening(grows.pid)
        with moments.watch(grows.pid):
            grows.say("")
            assert grows.hear() == "\n"
        grows.say("\n\n")
        assert grows.process.stderr
        assert (grows.process.stderr.read(), grows.process.wait()) == ("mine\n", 0)
    sizes = moments.facts
    assert sizes["after"]["objects"] - sizes["before"]["objects"] > 1_000_000
    answer = said(inside)
    assert answer.count(END) == 4
    in_use = [each["in_use"] for each in sum_heaps([answer])]
    if runtime.name.free_threaded:
        assert in_use == []
    else:
        assert in_use[2] - in_use[1] > 1_000_000
    (start,) = inside.files("memory").values()
    assert 1_000_000 < sizes_by_kind([start.decode()])["objects"] <= sizes["before"]["objects"]


def said(inside: Instrumentation) -> str:
    """What it has answered so far."""
    return "".join(content.decode() for content in inside.files("mallocs").values())


def test_a_process_without_a_handler_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """To it the signal would be the end."""
    monkeypatch.setattr(memory, "IDLE_S", 0.0)
    moments = MemoryWatcher(skipped=0)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process, moments.watch(process.pid):
        pass
    assert (process.returncode, moments.facts["idle"]["processes"]) == (0, 1)
