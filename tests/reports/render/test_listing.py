"""Saved runs in a line each: newest first, with what their comparisons say."""

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.comparing import compare
from core.languages import ENGLISH
from record.run_file import RunFile
from record.saved_run import FILE_NAME, Run
from reports.parts.headline import main_headline
from reports.render.console import terminal
from reports.render.listing import NO_VERDICT, NONE_OK, SavedRun, print_list, saved_runs
from tests.analysis.timed_cells import steady
from tests.reports.sample import cell_of, faulty, run_of, set_plan


def run(started_at: str, blocks: int = 8) -> Run:
    """System 2, twice as fast without the lock; one more cell failed."""
    cells = [*steady("3.14t+gil", 4000, blocks=blocks), *steady("3.14t", 2000, blocks=blocks)]
    cells.append(faulty(cell_of("2", "3.14t"), blocks + 1, "failed", "died"))
    return replace(run_of(cells), started_at=started_at)


def listed(runs: Iterable[SavedRun]) -> list[str]:
    out = io.StringIO()
    print_list([*runs], terminal(out), ENGLISH)
    return out.getvalue().splitlines()


def test_a_foreign_run_cannot_control_the_terminal(tmp_path: Path) -> None:
    foreign = run("2026-01-02T03:04:05+00:00", blocks=2)
    set_plan(foreign, name="x\x1b]0;title\x07\x1b[31m\nred")
    RunFile(tmp_path / "es\x1b[31mcape").save(foreign)
    lines = listed(saved_runs(tmp_path))
    assert all(sign.isprintable() for sign in "".join(lines))
    assert len(lines) == 5  # the head and the run have two lines each, because the folder's name is long


def test_the_list_is_newest_first_and_fits_its_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    told = run("2026-01-02T03:04:05+00:00")
    told.headline = main_headline(compare(told), {})
    RunFile(tmp_path / "old").save(told)
    RunFile(tmp_path / "new").save(run("2026-02-02T03:04:05+00:00", blocks=2))
    for name in ("broken", "no run"):
        (tmp_path / name).mkdir()
    (tmp_path / "broken" / FILE_NAME).write_text("{")
    lines = listed(replace(one, folder=Path(one.folder).name) for one in saved_runs(tmp_path))
    assert lines[0] == "started           plan   blocks  cells ok  cells not ok  run"
    assert lines[1] == "2026-02-02 03:04  quick       3         4             1  new"
    assert lines[2].rstrip() == f"  {NO_VERDICT}"
    assert "removing the GIL" in lines[4]
    assert all(len(line) <= 80 for line in lines)
    assert "is not JSON" in lines[-2] + lines[-1]


def test_a_narrow_terminal_has_a_long_folder_on_a_line_of_its_own_and_cuts_a_long_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    told = run("2026-01-02T03:04:05+00:00")
    set_plan(told, name="a plan with a name of forty characters..")
    RunFile(tmp_path / "a").save(told)
    folder = f"gilscope-runs/{'x' * 30}"
    lines = listed(replace(one, folder=folder) for one in saved_runs(tmp_path))
    assert lines[2].startswith("2026-01-02 03:04  a plan with a name of forty c…  ")
    assert (lines[3], {len(lines[0]), len(lines[2])}) == (f"  {folder}", {80})


def test_a_run_in_which_all_failed_says_so(tmp_path: Path) -> None:
    RunFile(tmp_path).save(run_of([faulty(cell_of("2", "3.14t"), 1, "failed", "died")]))
    (found,) = saved_runs(tmp_path)
    assert found.verdict == NONE_OK
