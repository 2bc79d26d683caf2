"""The view of a run: what is worked out once, and by whom it is taken."""

from pathlib import Path
from unittest.mock import patch

from reports.findings.findings import comparisons, markdown
from reports.rows import view
from reports.rows.comparisons import compare
from reports.rows.summary import rows
from reports.rows.view import View, view_of
from reports.write import write_all
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of

RUN = run_of([measured(cell_of("2", arm), block, [2000 * MS]) for arm in ("3.11", "3.14t") for block in (1, 2, 3)])


def test_a_view_has_the_rows_and_comparisons_of_its_run() -> None:
    made = view_of(RUN, TITLES)
    assert [(row.runtime, row.figures) for row in made.rows] == [(row.runtime, row.figures) for row in rows(RUN)]
    assert list(made.comparisons) == compare(RUN)
    assert made.titles == TITLES


def test_the_view_of_a_view_is_itself() -> None:
    made = view_of(RUN)
    assert view_of(made, TITLES) is made


def test_a_report_from_a_view_says_what_one_from_the_run_says() -> None:
    made = view_of(RUN)
    assert markdown(made) == markdown(RUN)
    assert comparisons(made) == comparisons(RUN)


def test_all_outputs_are_written_from_one_view_without_comparing_again(tmp_path: Path) -> None:
    made: View = view_of(RUN, TITLES)
    with patch.object(view, "compare", side_effect=AssertionError("compared again")):
        paths = write_all(made, tmp_path)
    assert [path.name for path in paths][:2] == ["report.html", "table.md"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
