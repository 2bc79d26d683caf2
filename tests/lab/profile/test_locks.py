"""Locks and stops watched in real processes, in which they were planted."""

import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from core.messages import ChildFailed
from lab.places import REPOSITORY
from lab.profile import lock_watcher as locks
from lab.profile.frames import NO_OWNER, FrameReader
from lab.profile.lock_watcher import LockFacts, obstacle_to, record_locks
from lab.profile.uprobes import Probes
from lab.user_service.process_memory import NotReadable
from tests.campaign.test_exhaustion import ids
from tests.conftest import runtime_or_skip
from tests.lab.extensions import extension
from tests.started import started
from tests.tables import each_row

PLANTED = Path(__file__).with_name("planted")
DEADLINE_S = 60.0
PROGRAMS = 11  # BPF_PROG_GET_NEXT_ID: bpf(2)
ENOUGH = 10
ENOUGH_CPU_SAMPLES = 200  # of 40 a share of 5 % may have none


@pytest.fixture(scope="module")
def python() -> Path:
    if why_not := obstacle_to("locks"):
        pytest.skip(str(why_not))
    return runtime_or_skip("3.14t").interpreter.executable


def has_waits(facts: LockFacts) -> bool:
    return sum(line.samples for line in (*facts.contended, *facts.stopping)) >= ENOUGH


def watched(python: Path, kind: str, is_enough: Callable[[LockFacts], bool] = has_waits, **more: Any) -> LockFacts:
    """What is seen of a planted service in one recording, which is longer each time until that is enough."""
    ends, rounds = monotonic() + DEADLINE_S, 60
    with started(python, PLANTED / "services.py", kind, **more) as service:
        while True:
            with record_locks(service.pid) as recording:
                recording.wait_for(rounds, DEADLINE_S)
            facts = recording.facts
            assert facts
            if is_enough(facts) or monotonic() > ends:
                return facts
            rounds *= 2


def test_the_type_and_the_line_of_a_shared_object_come_first(python: Path) -> None:
    facts = watched(python, "shared_dict_under_one_key")
    first = facts.contended[0]
    assert (first.owner, first.stack[0].function) == ("dict", "shared_dict_under_one_key")
    assert (len(first.by_time), sum(first.by_time)) == (locks.PARTS, first.samples)
    assert first.by_time[-1] < first.samples  # each sample is of the interval in which its reading began
    assert "shared_dict[" in (PLANTED / "services.py").read_text().splitlines()[first.stack[0].line - 1]
    assert facts.stops == 0


def test_functions_that_are_given_attributes_stop_all_threads_at_their_line(python: Path) -> None:
    facts = watched(python, "function_attributes", lambda facts: has_waits(facts) and facts.stops > ENOUGH)
    place, caller, *_ = facts.stopping[0].stack
    assert (place.function, caller.function) == ("update_wrapper", "function_attributes")
    assert facts.stops > ENOUGH
    assert 0 < facts.stood_ns <= facts.watched_ns


def test_an_object_that_all_threads_refer_to_costs_counts_and_no_lock(python: Path) -> None:
    facts = watched(python, "counter_object", lambda facts: facts.cpu_samples >= ENOUGH_CPU_SAMPLES)
    assert facts.contended == ()
    assert facts.count_share > 0.01


def test_the_mutex_of_an_extension_is_no_objects(python: Path, tmp_path: Path) -> None:
    extension(runtime_or_skip("3.14t").interpreter, tmp_path, "_planted", (PLANTED / "_planted.c").read_text())
    facts = watched(python, "own_mutex", cwd=tmp_path / "built")
    assert (facts.contended[0].owner, facts.contended[0].stack[0].function) == ("[_planted.so]", "own_mutex")


HOLDER = """
import sys
from glob import glob
from pathlib import Path
from lab.profile.uprobes import Probes, Uprobe

with Probes([Uprobe(name="lock", file=Path(sys.executable).resolve(), offset=0)]):
    lines = [line for file in glob("/proc/self/fdinfo/*") if Path(file).exists() for line in open(file)]
    print(*(line.split()[1] for line in lines if line.startswith("prog_id:")), flush=True)
    input()
"""


def test_what_runs_in_the_kernel_is_gone_when_the_runner_is_killed(python: Path) -> None:
    with started(sys.executable, "-c", HOLDER, cwd=REPOSITORY) as holder:
        programs = {int(number) for number in holder.first.split()}
        assert len(programs) == 2  # of probes, and of samples of CPU time
        assert programs <= ids(PROGRAMS)
    ends = monotonic() + DEADLINE_S
    while programs & ids(PROGRAMS):
        assert monotonic() < ends
        os.sched_yield()


def test_a_recording_that_fails_is_not_a_profile_without_waits(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = threading.Event()

    def breaks(_: FrameReader) -> None:
        called.set()
        raise OSError("no stacks")

    monkeypatch.setattr(FrameReader, "stacks", breaks)
    with (
        started(python, PLANTED / "services.py", "shared_dict_under_one_key") as service,
        pytest.raises(ChildFailed, match=r"ended early \(OSError\('no stacks'\)\)"),
        record_locks(service.pid),
    ):
        assert called.wait(DEADLINE_S)


def test_what_is_no_python_is_not_believed_or_watched(python: Path) -> None:
    with pytest.raises(ChildFailed, match="could not run self_test"):
        locks.run_self_test(shutil.which("true") or "/bin/true")
    with started("sh", "-c", "echo ready; read line") as service:
        with pytest.raises(NotReadable):
            FrameReader(service.pid)
        with pytest.raises(ChildFailed, match="the service has no process with CPython"), record_locks(service.pid):
            pass


@each_row
def test_a_stack_is_read_with_lines_and_functions_also_of_a_file_in_chinese(tmp_path: Path, name: str) -> None:
    executable = runtime_or_skip(name).interpreter.executable
    script = tmp_path / "服务.py"
    script.write_text("def 等待():\n    input('ready\\n')\n\n等待()\n", "utf-8")
    with started(executable, script) as service:
        process = FrameReader(service.pid)
        places = [place for frame in next(process.stacks()).frames if (place := process.place(frame))]
        assert process.owner(10) == process.owner(1 << 63) == NO_OWNER  # where there is no memory
        process.close()
    assert [(Path(place.file).name, place.line, place.function) for place in places] == [
        ("服务.py", 2, "等待"),
        ("服务.py", 4, "<module>"),
    ]


def test_a_kernel_that_refuses_is_told_in_one_line_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(probes: Probes) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Probes, "__enter__", refuse)
    assert "Operation not permitted. Run gilscope as root" in str(obstacle_to("locks"))
    monkeypatch.setattr(sys, "platform", "darwin")
    for kind in ("locks", "python"):
        assert "needs Linux" in str(obstacle_to(kind))
