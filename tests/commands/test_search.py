"""The exit status of a search for the capacity."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import run as command
from core.messages import message
from core.result import CellResult, Run
from reports.view import View
from tests.reports.facts.test_capacity import searched, steep


def status_of(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the exit status of a run with these cells."""
    written = Namespace(view=View(run), is_complete=True)
    for name, made in (("_carry_out", None), ("write", written), ("show", None), ("note_time", None)):
        monkeypatch.setattr(command, name, lambda *given, made=made, **more: made)
    plan = Namespace(objectives=run.plan["objectives"], fail_if_slower=0.0)
    order: Any = Namespace(plan=plan, folder=folder)
    sandbox: Any = None
    return command._measured(order, run, sandbox, {"quiet": True, "json": False, "stress": False})


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 0),
        ({"status": "invalid"}, 1),
        ({"status": "failed", "wrong": 1}, 1),
        ({"status": "failed", "clients": []}, 1),
    ],
)
def test_a_search_with_a_measurement_that_is_none_ends_with_1(
    changed: dict[str, Any], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(cell: CellResult) -> CellResult:
        is_second = bool(changed) and cell.block == 2
        return replace(cell, **changed, reason=message("the GIL was on")) if is_second else cell

    run = searched(steep, 600.0, 1, ("3.14",), change=change)
    assert status_of(run, tmp_path, monkeypatch) == status
