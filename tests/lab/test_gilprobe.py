"""The GIL of real processes, seen from outside."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.gilprobe import gil_state, gil_told
from lab.pyruntime import gil_in_memory
from lab.runtimes import Runtime
from tests.conftest import runtime_or_skip

WAITING = "import sys; print(1, flush=True); sys.stdin.readline()"
BUSY = "print(1, flush=True)\nwhile True: pass"
pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="processes are looked at by /proc")


@contextmanager
def running(runtime: Runtime, code: str) -> Iterator[int]:
    """The pid of a Python process that runs *code* and has said so."""
    command = [str(runtime.interpreter.executable), *runtime.name.options, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        yield process.pid
        process.kill()


def test_the_gil_of_a_process_that_waits_in_the_kernel_is_known(runtime: Runtime) -> None:
    with running(runtime, WAITING) as pid:
        assert gil_state(pid) is runtime.name.gil_enabled


@pytest.mark.parametrize("name", ["3.14t", "3.14t+gil"])
def test_the_memory_of_a_free_threaded_process_says_whether_its_gil_is_on(name: str) -> None:
    runtime = runtime_or_skip(name)
    with running(runtime, WAITING) as pid:
        assert gil_in_memory(pid) is runtime.name.gil_enabled


@pytest.mark.parametrize("name", ["3.14t", "3.14t+gil"])
def test_a_process_that_runs_python_says_so_itself_when_it_is_asked(name: str) -> None:
    runtime = runtime_or_skip(name)
    with running(runtime, BUSY) as pid:
        assert gil_told(pid, runtime.interpreter.executable, deadline_s=10.0) is runtime.name.gil_enabled


def test_a_process_that_waits_in_the_kernel_does_not_answer_and_is_not_waited_for_longer() -> None:
    runtime = runtime_or_skip("3.14t")
    with running(runtime, WAITING) as pid:
        assert gil_told(pid, runtime.interpreter.executable, deadline_s=0.2) is None


def test_the_memory_of_another_version_is_not_read() -> None:
    with running(runtime_or_skip("3.11"), WAITING) as pid:
        assert gil_in_memory(pid) is None


def test_of_a_program_that_is_no_python_nothing_is_known() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        assert gil_state(process.pid) is None
        process.kill()


def test_of_a_process_that_has_ended_nothing_is_known() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    assert gil_state(process.pid) is None
    assert gil_in_memory(process.pid) is None
