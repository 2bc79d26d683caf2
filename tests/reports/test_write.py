"""What a run's folder holds beside result.json: all of it for the record, and all but what cannot be made."""

from pathlib import Path

import pytest

from core.runtime import NATIVE
from lab.run.runtimes import Native
from reports import write
from reports.exports import texts
from reports.view import View
from reports.write import PartsLost, write_all
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of

FILES = {"report.html", "findings.md", "table.csv", "cells.csv"}


def test_a_run_with_the_native_runtime_has_every_file(tmp_path: Path) -> None:
    """Nothing is known of the native runtime's build."""
    runtimes = ("3.14t", NATIVE)
    run = run_of([measured(cell_of("1", name), 1, [2000 * MS], [MS] * 100) for name in runtimes], runtimes=runtimes)
    run.runtimes[NATIVE] = Native().to_json()
    paths = write_all(View(run, TITLES), tmp_path)
    assert {path.name for path in paths if path.parent == tmp_path} == FILES
    found = (tmp_path / "findings.md").read_text(encoding="utf-8")
    lines = [line.split("|") for line in found.splitlines() if line.startswith("| native ")]
    assert ["-"] * 4 in [[cell.strip() for cell in line[2:6]] for line in lines]


def test_a_file_that_cannot_be_made_loses_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **more: object) -> str:
        raise KeyError("pgo")

    monkeypatch.setattr(write, "page", broken)
    monkeypatch.setattr(texts, "rows_sheet", broken)
    with pytest.raises(PartsLost) as lost:
        write_all(View(run_of([measured(cell_of("2", "3.14t"), 1, [MS])]), TITLES), tmp_path)
    cause = " could not be created (KeyError: 'pgo', in test_write.py:"
    assert [str(reason).partition(cause)[0] for reason in lost.value.reasons] == ["table.csv", "report.html"]
    assert {path.name for path in lost.value.paths if path.parent == tmp_path} == FILES - {"report.html", "table.csv"}
    assert all(path.is_file() for path in lost.value.paths)
