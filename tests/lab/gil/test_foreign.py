"""A process of another user's Python: its version is read, and its program never executed."""

import os
import shutil
from pathlib import Path

import pytest

from lab.gil.process_memory import PythonProcess, build_in_file, python_process
from tests.conftest import runtime_or_skip
from tests.lab.python.test_trust import NOBODY, as_root
from tests.started import started


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
