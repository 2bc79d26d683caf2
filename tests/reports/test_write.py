"""What a run's folder holds beside result.json, and the run as a pandas frame, which docs/explore.ipynb shows."""

from pathlib import Path

import pytest

from core.runtime import NATIVE
from lab.run.measured_runtimes import Native
from record.run_file import RunFile
from reports import write
from reports.document import Section
from reports.frame import frame
from reports.sections import costs
from reports.view import View
from reports.write import write_all
from tests.reports.sample import MS, TITLES, cell_of, faulty, measured, run_of

FILES = {"report.html", "findings.md", "table.csv", "cells.csv"}


def test_a_run_with_the_native_runtime_has_every_file(tmp_path: Path) -> None:
    """Nothing is known of the native runtime's build."""
    runtimes = ("3.14t", NATIVE)
    run = run_of([measured(cell_of("1", name), 1, [2000 * MS], [MS] * 100) for name in runtimes], runtimes=runtimes)
    run.runtimes[NATIVE] = Native().facts()
    assert write_all(View(run, TITLES), tmp_path) == []
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == FILES
    found = (tmp_path / "findings.md").read_text(encoding="utf-8")
    lines = [line.split("|") for line in found.splitlines() if line.startswith("| native ")]
    assert ["-"] * 4 in [[cell.strip() for cell in line[2:6]] for line in lines]


def test_a_bug_in_a_section_costs_this_section_only_and_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(view: View) -> Section:
        raise KeyError("pgo")

    monkeypatch.setattr(costs, "section", broken)
    (line,) = write_all(View(run_of([measured(cell_of("1", "3.14t"), 1, [2000 * MS])])), tmp_path)
    assert str(line).startswith("reports.sections.costs could not be created (KeyError: 'pgo', in test_write.py:")
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == FILES
    found = (tmp_path / "findings.md").read_text(encoding="utf-8")
    assert "\n\nreports.sections.costs could not be created (KeyError: 'pgo', " in found
    assert "\n## Results\n" in found


def test_a_bug_in_the_head_of_the_report_costs_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "size_line", lambda view: vars(view)["pgo"])
    (line,) = write_all(View(run_of([measured(cell_of("1", "3.14t"), 1, [2000 * MS])])), tmp_path)
    assert str(line).startswith("report.html could not be created (KeyError: 'pgo', in test_write.py:")
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv", "cells.csv"}


def test_durations_are_integers_and_what_a_failed_cell_has_not_is_missing_and_not_0(tmp_path: Path) -> None:
    good = measured(cell_of("2", "3.14t"), 1, [499 * MS], [250_000] * 1000)
    RunFile(tmp_path).save(run_of([good, faulty(cell_of("4", "3.11"), 1, "failed", "died")]))
    cells = frame(tmp_path)
    assert list(cells["status"]) == ["ok", "failed"]
    for name in ("requests_per_s", "latency_p50_ns", "service_cpu_ns_per_request", "completion_median_ns"):
        assert list(cells[name].isna()) == [False, True]
    assert str(cells["latency_p50_ns"].dtype) == "Int64"
