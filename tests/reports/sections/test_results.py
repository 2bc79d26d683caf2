"""The table of rows on a terminal, in a pipe and as Markdown; what must be said with it."""

import io
import re
from typing import Any

import pytest
from rich.console import Console

from core.languages import ENGLISH
from core.result import Run
from reports.render.console import terminal
from reports.render.terminal import print_section
from reports.sections.results import section
from reports.view import View
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of, seed_run

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def printed(run: Run, console: Console) -> str:
    print_section(section(View(run, TITLES)), console, ENGLISH)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Console:
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return terminal(io.StringIO())


@pytest.fixture(scope="module")
def record() -> Run:
    return seed_run()


def small_run(**plan: Any) -> Run:
    cells = [measured(cell_of("1", arm, SMALL), 1, [ms * MS]) for arm, ms in (("3.11", 2000), ("3.14t", 1000))]
    run = run_of(cells, blocks=1)
    run.plan.update(plan)
    return run


class Ascii(io.StringIO):
    """A stream whose encoding has no blocks."""

    encoding = "ascii"


def test_where_the_encoding_has_no_blocks_bars_are_number_signs() -> None:
    out = Ascii()
    text = printed(small_run(), Console(file=out, width=80, highlight=False))
    assert re.search(r" 2\.00 #{6} *\n", text)
    assert text.isascii()


def test_a_whole_record_fits_80_columns_with_every_runtime_setting_and_bar(piped: Console, record: Run) -> None:
    text = printed(record, piped)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("  3.14t+gil ") == 11
    assert all("█" in line for line in text.splitlines() if line.startswith("  3.14t+gil "))
    assert "NUM_MULTI_SOCKET 10, SELECT_MODE single, CLIENT_BINDING" in " ".join(text.split())
    assert "…" not in text
    assert "\x1b" not in text


def test_columns_says_how_wide_a_pipe_is(monkeypatch: pytest.MonkeyPatch, record: Run) -> None:
    monkeypatch.setenv("COLUMNS", "130")
    assert "wall" in printed(record, terminal(io.StringIO()))


def test_an_experiment_with_a_view_of_its_own_prints_that_instead(piped: Console) -> None:
    assert printed(small_run(view="echo"), piped) == ""


def test_titles_with_brackets_are_no_markup(piped: Console) -> None:
    run = small_run()
    run.plan["rows"][0]["title"] = "[red]odd[/] title"
    assert "[red]odd[/] title" in printed(run, piped)


def test_a_run_that_ended_by_its_until_lacks_nothing_of_the_blocks_that_it_did_not_need() -> None:
    cells = [measured(cell_of("1", name, SMALL), 1, [MS]) for name in ("3.11", "3.14t")]
    run = run_of(cells, blocks=10_000, runtimes=["3.11", "3.14t"])
    run.plan["until"] = {"verdict": True, "width": 0.0, "seconds": 180.0}
    assert not section(View(run)).sentences
    run.cells.pop()
    assert [str(line) for line in section(View(run)).sentences] == [
        "1 cell of the plan is not measured; --resume goes on with it."
    ]
