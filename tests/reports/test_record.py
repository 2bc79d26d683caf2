"""The record: an honest word on whatever is missing. The seed's figures are in the golden outputs."""

from core.languages import ENGLISH
from core.result import Run
from reports.record import record
from reports.render.markdown import markdown
from reports.view import View
from tests.reports.sample import MS, TITLES, cell_of, faulty, measured, run_of


def page(run: Run) -> str:
    return markdown(record(View(run, TITLES)), ENGLISH)


def lines_of(text: str, what: str) -> list[list[str]]:
    """Cells of every table line that begins with *what*."""
    lines = (line for line in text.splitlines() if line.startswith(f"| {what} "))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_a_failed_row_says_why() -> None:
    run = run_of([faulty(cell_of("3", "3.11"), 1, "failed", "no answer")], blocks=1, runtimes=["3.11"])
    assert lines_of(page(run), "Tornado")[0][1] == "1 of 1 block failed: no answer"


def test_of_several_cells_that_fit_the_one_nearest_to_the_seed_is_shown() -> None:
    cells = [measured(cell_of("3", "3.11", {"CALC_TARGET": target}), 1, [target * MS]) for target in (10, 1000, 5000)]
    run = run_of(cells, blocks=1, runtimes=["3.11"])
    assert lines_of(page(run), "Tornado")[0][1] == "1.000 s (1.000)"
