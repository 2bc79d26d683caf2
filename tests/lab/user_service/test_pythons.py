"""What is made of the processes of a service that were looked at."""

import os
from pathlib import Path

import pytest

from core.messages import BadInput
from lab.run import feasible
from lab.user_service import service_child as module
from lab.user_service.process_memory import PythonProcess, python_process
from lab.user_service.service_child import pythons_in
from tests.tables import each_row

OFF = PythonProcess(label="3.14.7t", gil_enabled=False)
BACK = PythonProcess(label="3.14.7t", gil_enabled=True)
PROCESSES = {
    "none": None,
    "old": PythonProcess(label="3.11.2", gil_enabled=True),
    "off": OFF,
    "back": BACK,
    "silent": PythonProcess(label="3.14.7t", gil_enabled=None),
}


@each_row
def test_the_gil_is_that_of_the_measured_python_and_unknown_where_one_does_not_tell(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """The old Python may be a supervisor's."""
    names, expected, told = line.split("|")
    found = [PROCESSES[name] for name in names.split()]
    monkeypatch.setattr(module, "python_process", lambda pid: found[pid])
    known = pythons_in(range(len(found)), expected.strip())
    assert [str(known.gil_enabled), *known.labels] == told.split()


def test_a_process_that_was_not_reached_in_time_leaves_it_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    for first, gil_enabled in ((OFF, None), (BACK, True)):
        monkeypatch.setattr(module, "monotonic", iter([0.0, 0.1, 9.0]).__next__)
        monkeypatch.setattr(module, "python_process", lambda pid, first=first: first)
        assert pythons_in([1, 2, 3]).gil_enabled is gil_enabled


def test_a_platform_without_proc_is_refused_with_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasible, "PROC_STAT", Path("/no/such/stat"))
    with pytest.raises(BadInput, match="--target"):
        feasible.expect_proc()


def test_a_process_that_may_not_be_inspected_leaves_it_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> str:
        raise PermissionError(path)

    monkeypatch.setattr(module, "python_process", lambda pid: OFF if pid == 1 else python_process(pid))
    assert pythons_in([1, -1]).gil_enabled is False
    monkeypatch.setattr(os, "readlink", refuse)
    assert pythons_in([1, -1]).gil_enabled is None
