"""The GIL of real processes, seen from outside."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.gil.process_memory import build_in_file, python_process, read_gil_state
from lab.run.measured_runtimes import Runtime
from tests.conftest import runtime_or_skip
from tests.started import started

WAITING = "import sys; print(1, flush=True); sys.stdin.readline()"
pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="processes are looked at by /proc")


@contextmanager
def running(runtime: Runtime, code: str) -> Iterator[int]:
    """The pid of a Python process that runs *code* and has said so."""
    with started(runtime.interpreter.executable, "-c", code, env=os.environ | runtime.variables) as process:
        yield process.pid


def test_the_gil_and_the_interpreter_of_a_process_that_waits_in_the_kernel_are_known(runtime: Runtime) -> None:
    """The file of the interpreter, or of its library, says the same of it."""
    with running(runtime, WAITING) as pid:
        found = python_process(pid)
    assert found
    assert found.gil_enabled is runtime.name.gil_enabled
    assert found.label == runtime.interpreter.facts["version"] + ("t" if runtime.name.free_threaded else "")
    program = runtime.interpreter.executable
    libraries = sorted(program.parent.parent.glob("lib/libpython3.*.so.1.0"))
    assert (build_in_file(program) or build_in_file(libraries[0])) == found.label


def test_the_memory_of_another_version_is_not_read() -> None:
    with running(runtime_or_skip("3.11"), WAITING) as pid:
        assert read_gil_state(pid) is None


def test_of_a_program_that_is_no_python_and_of_a_process_that_has_ended_nothing_is_known() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        assert python_process(process.pid) is None
        process.kill()
    assert python_process(process.pid) is None
    assert read_gil_state(process.pid) is None
