"""Every cell as a line with an anchor, its figures with what they are sorted by, and why it failed."""

from core.languages import ENGLISH
from reports.document.model import Datum, Section, Table
from reports.sections.cells import section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import MS, cell_of, faulty, measured, run_of

OK = measured(cell_of("4", "3.14t", {"NUM_MULTI_SOCKET": 5}), 2, [1500 * MS], latencies_ns=[MS, 2 * MS])
FAILED = faulty(cell_of("2", "3.11"), 1, "failed", "ended early\nmore\nlast line")


def table() -> Table:
    (made,) = section(View(run_of([OK, FAILED]))).tables
    return made


def columns(line: tuple[Datum, ...]) -> dict[str, Datum]:
    return {str(column.head): datum for column, datum in zip(table().columns, line, strict=True)}


def test_a_cell_has_an_anchor_and_its_figures_are_sorted_by_what_was_measured() -> None:
    first = table().lines[0]
    assert first[0].anchor == f"cell-3.14t-{OK.cell_id}-2"
    completion = columns(first)["Completion [s]"]
    assert (completion.text(ENGLISH), completion.raw, completion.figure) == ("1.500", "1500000000", "completion_s")
    requests = columns(first)["Requests/s"]
    assert (requests.figure, requests.raw) == ("requests_per_s", f"{OK.answered * 1e9 / OK.wall_ns:.1f}")


def test_a_cell_without_figures_says_why_in_short() -> None:
    failed = columns(table().lines[1])
    assert failed["Completion [s]"].text(ENGLISH) == ""
    assert failed["Status"].text(ENGLISH) == "failed"
    assert (failed["Reason"].text(ENGLISH), failed["Reason"].state) == ("ended early [...] last line", "wraps")


def test_readers_filter_by_system_arm_and_status() -> None:
    made, line = table(), lines_of(table())[1]
    assert {name: line[column] for name, column in made.filters} == {"system": "2", "arm": "3.11", "status": "failed"}


def test_a_run_without_cells_has_an_empty_table() -> None:
    made: Section = section(View(run_of([], runtimes=["3.14"])))
    assert not made.tables[0]
