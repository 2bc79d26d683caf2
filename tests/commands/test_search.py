"""The exit status of a search for the capacity."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import running as command
from core.messages import message
from record.saved_run import CellResult, Run
from reports.view import View
from tests.analysis.searches import searched, steep


def status_of(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, runtimes: str | None = None) -> int:
    """Return the exit status of a run with these cells, for which the user named these runtimes."""
    written = Namespace(view=View(run), is_complete=True)
    for name, made in (("_carry_out", None), ("write", written), ("show", None), ("note_time", None)):
        monkeypatch.setattr(command, name, lambda *given, made=made, **more: made)
    plan = Namespace(objectives=run.plan.objectives, fail_if_slower=0.0)
    order: Any = Namespace(plan=plan, folder=folder)
    sandbox: Any = None
    return command._measured(order, run, sandbox, {"quiet": True, "json": False, "runtime": runtimes})


@pytest.mark.parametrize(
    "changed", [{"status": "invalid"}, {"status": "failed", "wrong": 1}, {"status": "failed", "clients": []}]
)
def test_a_search_with_a_measurement_that_is_none_ends_with_1(
    changed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(cell: CellResult) -> CellResult:
        return replace(cell, **changed, reason=message("the GIL was on")) if cell.block == 2 else cell

    run = searched(steep, 600, arms=("3.14",), change=change)
    assert status_of(run, tmp_path, monkeypatch) == 1


def test_a_runtime_that_was_asked_for_and_not_measured_ends_with_1_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = searched(steep, 600, arms=("3.14",))
    assert status_of(run, tmp_path, monkeypatch, "3.14") == 0
    assert status_of(run, tmp_path, monkeypatch, "3.14,3.14t") == 1
    assert "Named with --runtime, but not measured: 3.14t." in capsys.readouterr().err
