"""The exit status of a search for the capacity."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import running as command
from core.messages import message
from record.saved_run import CellResult
from reports.view import View
from tests.analysis.searches import searched, steep
from tests.tables import each_row


@each_row
def test_a_search_with_a_measurement_that_is_none_or_without_a_runtime_that_was_asked_for_ends_with_1(
    changed: dict[str, Any],
    named: str | None,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def change(cell: CellResult) -> CellResult:
        return replace(cell, **changed, reason=message("the GIL was on")) if changed and cell.block == 2 else cell

    run = searched(steep, 600, arms=("3.14",), change=change)
    written = Namespace(view=View(run), is_complete=True)
    for name, made in (("_carry_out", None), ("write", written), ("show", None), ("note_time", None)):
        monkeypatch.setattr(command, name, lambda *given, made=made, **more: made)
    plan = Namespace(objectives=run.plan.objectives, fail_if_slower=0.0)
    order: Any = Namespace(plan=plan, folder=tmp_path)
    sandbox: Any = None
    assert command._measured(order, run, sandbox, {"quiet": True, "json": False, "runtime": named}) == status
    is_absent = named == "3.14,3.14t"
    assert ("Named with --runtime, but not measured: 3.14t." in capsys.readouterr().err) == is_absent
