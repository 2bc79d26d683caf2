"""What a run's folder holds beside result.json."""

from pathlib import Path

from core.runtime import NATIVE
from lab.run.runtimes import Native
from reports.view import View
from reports.write import write_all
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of

FILES = {"report.html", "findings.md", "table.csv", "cells.csv"}


def test_a_run_with_the_native_runtime_has_every_file(tmp_path: Path) -> None:
    """Nothing is known of the native runtime's build."""
    runtimes = ("3.14t", NATIVE)
    run = run_of([measured(cell_of("1", name), 1, [2000 * MS], [MS] * 100) for name in runtimes], runtimes=runtimes)
    run.runtimes[NATIVE] = Native().facts()
    paths = write_all(View(run, TITLES), tmp_path)
    assert {path.name for path in paths if path.parent == tmp_path} == FILES
    found = (tmp_path / "findings.md").read_text(encoding="utf-8")
    lines = [line.split("|") for line in found.splitlines() if line.startswith("| native ")]
    assert ["-"] * 4 in [[cell.strip() for cell in line[2:6]] for line in lines]
