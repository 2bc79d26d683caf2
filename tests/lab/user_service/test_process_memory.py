"""The GIL and the version of real processes, seen from outside; a program of another user is never executed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.run.measured_runtimes import Runtime
from lab.user_service.process_memory import PythonProcess, build_in_file, python_process, read_gil_state
from tests.conftest import runtime_or_skip
from tests.lab.python.test_trust import NOBODY, as_root
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


@pytest.mark.parametrize(
    "junk", [b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01" + bytes(58), b"\x7fELF\x02\x01" + b"\xff" * 90]
)
def test_a_file_that_is_no_interpreter_is_none(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "python3.14"
    path.write_bytes(junk)
    assert build_in_file(path) == ""
    assert build_in_file(tmp_path / "none") == ""


@as_root
def test_an_interpreter_of_another_user_is_read_and_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter = runtime_or_skip("3.14t").interpreter
    program = Path(shutil.copy2(interpreter.executable, tmp_path / "python3.14t"))
    os.chown(program, NOBODY, NOBODY)
    monkeypatch.setenv("PYTHONHOME", str(interpreter.executable.parent.parent))
    with started(program, "-c", "print(flush=True); input()") as other:
        assert python_process(other.pid) == PythonProcess(interpreter.facts["version"] + "t", gil_enabled=False)


@as_root
def test_a_foreign_program_that_only_has_an_interpreters_name_is_not_known(tmp_path: Path) -> None:
    program = Path(shutil.copy2(os.path.realpath("/bin/cat"), tmp_path / "python3.14"))
    marker = tmp_path / "line"
    marker.write_text("\n")
    os.chown(program, NOBODY, NOBODY)
    with started(program, str(marker), "-") as other:
        assert python_process(other.pid) is None
