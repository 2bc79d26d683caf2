"""What reports say of the best services: each step with its interval, who they are; on a terminal of 80 columns."""

from io import StringIO

from rich.console import Console

from core.languages import ENGLISH
from core.result import Run
from reports.render.terminal import print_section
from reports.sections.best import section
from reports.view import View
from tests.reports.reading import elements, page_of, with_attribute
from tests.reports.rows.test_best import a_run


def printed(run: Run) -> str:
    out = StringIO()
    print_section(section(View(run)), Console(file=out, width=80), ENGLISH)
    return out.getvalue()


def test_a_step_names_both_services_and_the_ratio_between_them() -> None:
    (sentence,) = section(View(a_run())).sentences
    assert str(sentence) == (
        "3.14t at its best (System 4, DISPATCH owned) serves 1.50 [1.50, 1.50] times what 3.14 does at its best "
        "(System 4, DISPATCH leader): faster."
    )


def test_a_terminal_shows_who_is_best_under_each_runtime() -> None:
    text = printed(a_run())
    assert max(map(len, text.splitlines())) <= 80
    assert [line.split() for line in text.splitlines() if "System 4, DISPATCH" in line][:2] == [
        ["3.14", "System", "4,", "DISPATCH", "leader", "8", "2,000", "5.0"],
        ["3.14t", "System", "4,", "DISPATCH", "owned", "8", "3,000", "3.3"],
    ]


def test_figures_lead_to_the_cells_of_the_two_services() -> None:
    view = View(a_run())
    (_, steps) = section(view).tables
    (line,) = steps.lines
    (leader, owned) = [best.row.cells[0].cell_id for best in view.bests]
    assert line[1].cells == f"3.14-{leader} 3.14t-{owned}"
    assert with_attribute(elements(page_of(view)), "data-figure", "of judging blocks")
