"""The record: the seed's figures beside ours, and an honest word on whatever is missing."""

import pytest

from core.languages import ENGLISH
from core.result import Run
from reports.record import record
from reports.render.markdown import markdown
from reports.seed import published
from reports.view import View
from tests.reports.sample import MS, TITLES, cell_of, faulty, measured, run_of, seed_run

SOCKET_SECONDS = {"1": ["2.35 s", "2.44 s"], "5": ["2.60 s", "2.47 s"], "10": ["3.03 s", "2.60 s"]}


def page(run: Run) -> str:
    return markdown(record(View(run, TITLES)), ENGLISH)


def lines_of(text: str, what: str) -> list[list[str]]:
    """Cells of every table line that begins with *what*."""
    lines = (line for line in text.splitlines() if line.startswith(f"| {what} "))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


@pytest.fixture(scope="module")
def text() -> str:
    return page(seed_run(blocks=2, runtimes=("3.11", "3.14t")))


@pytest.mark.parametrize("sockets", SOCKET_SECONDS)
def test_both_sweeps_of_sockets_have_the_seeds_figures(text: str, sockets: str) -> None:
    lines = lines_of(text, f"NUM_MULTI_SOCKET = {sockets}")
    assert [line[-1] for line in lines] == SOCKET_SECONDS[sockets]


def test_the_seeds_figures_are_headed_as_another_machines(text: str) -> None:
    assert "another machine's: i9-13900K, Python 3.11.5 | another machine's: i9-13900K, Python 3.14.0a0" in text
    assert "another machine's: i9-13900K, interpreter not named" in text
    assert "no target" in text


def test_system_1_says_that_the_seed_has_no_figure(text: str) -> None:
    chapter = text.partition("## System 1")[2].partition("## System 2")[0]
    assert "publishes no settings and no figure" in chapter
    assert "another machine's" not in chapter


def test_the_environment_is_told_with_the_limit_of_open_files(text: str) -> None:
    for part in ("Sample CPU", "16.0 GiB", "Linux 6.1", "20000", "unlimited", published.CPU, published.OPEN_FILES):
        assert part in text


def test_settings_stand_beside_the_seeds(text: str) -> None:
    assert ["NUM_MULTI_SOCKET", "1, 5, 10", "10", "listening sockets per service"] in lines_of(text, "NUM_MULTI_SOCKET")


def test_interpreters_are_told_with_their_builds_and_without_their_paths(text: str) -> None:
    assert ["3.14t", "3.14.7", "free-threaded", "GCC 13.2.0", "PGO, no LTO, static"] in lines_of(text, "3.14t")
    assert "/opt/" not in text


def test_a_record_of_the_seeds_size_has_no_warning(text: str) -> None:
    assert "the seconds cannot be compared" not in text


def test_a_failed_row_says_why() -> None:
    run = run_of([faulty(cell_of("3", "3.11"), 1, "failed", "no answer")], blocks=1, runtimes=["3.11"])
    assert lines_of(page(run), "Tornado")[0][1] == "1 of 1 block failed: no answer"


def test_of_several_cells_that_fit_the_one_nearest_to_the_seed_is_shown() -> None:
    cells = [measured(cell_of("3", "3.11", {"CALC_TARGET": target}), 1, [target * MS]) for target in (10, 1000, 5000)]
    run = run_of(cells, blocks=1, runtimes=["3.11"])
    assert lines_of(page(run), "Tornado")[0][1] == "1.000 s (1.000)"
