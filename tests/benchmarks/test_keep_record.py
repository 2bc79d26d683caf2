"""A record as the project keeps it: small, without paths, and a report can be made from it again."""

from dataclasses import replace
from pathlib import Path

from benchmarks.keep_record import TABLE, keep
from core.runtime import Flags
from record.run_file import RunFile, load
from record.saved_run import FILE_NAME
from reports.view import View
from reports.write import report
from tests.reports.sample import TITLES, seed_run


def test_a_kept_record_is_small_and_says_the_same(tmp_path: Path) -> None:
    measured, kept = tmp_path / "run", tmp_path / "record"
    run = seed_run(runtimes=("3.11", "3.14t"))
    run.command = ["runner.py", "--experiment", "record", "--out", "/opt/here"]
    run.runtimes["3.11"] = replace(run.runtimes["3.11"], flags=Flags(configure="--prefix=/opt/python"))
    RunFile(measured).save(run)
    (measured / TABLE).touch()
    keep(measured, kept)
    assert {path.name for path in kept.iterdir()} == {TABLE, FILE_NAME}
    assert (kept / FILE_NAME).stat().st_size < (measured / FILE_NAME).stat().st_size / 2
    assert "/opt/" not in (kept / FILE_NAME).read_text()
    before, again = View(run, TITLES), View(load(kept), TITLES)
    figures, kept_figures = (
        [(one.ratio, one.low, one.high, one.verdict) for one in view.comparisons] for view in (before, again)
    )
    assert kept_figures == figures
    assert report(again).sections
