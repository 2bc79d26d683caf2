"""The table on a terminal, in a pipe, as Markdown and as CSV."""

import csv
import io

import pytest
from rich.console import Console

from core.result import Run
from reports.exports.csv_sheets import rows_sheet
from reports.rows.summary import rows
from reports.terminal.console import terminal
from reports.terminal.tables import print_run
from reports.words.markdown import markdown_table, table_page
from tests.reports.sample import MS, TITLES, cell_of, faulty, measured, run_of, seed_run

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}
TRACEBACK = (
    "Service 1 of 1 (3.14t, pid 7) exited with status 1 before it was ready. Its last lines: Traceback:\n"
    "  File \"x.py\"\nModuleNotFoundError: No module named 'tornado'"
)


def printed(run: Run, console: Console) -> str:
    print_run(run, TITLES, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return terminal(io.StringIO())


@pytest.fixture(scope="module")
def record() -> Run:
    return seed_run()


def small_run() -> Run:
    return run_of(
        [
            measured(cell_of("1", "3.11", SMALL), 1, [1500 * MS, 1600 * MS, 1999 * MS], [250_000] * 1000),
            measured(cell_of("1", "3.14t", SMALL), 1, [1000 * MS], [125_000] * 1000),
            faulty(cell_of("3", "3.11", SMALL), 1, "invalid", "the GIL was off at the end"),
            faulty(cell_of("3", "3.14t", SMALL), 1, "failed", TRACEBACK),
        ],
        blocks=1,
        missing={"3.13": "Runtime 3.13 was not found. Install it with: uv python install 3.13"},
    )


def test_a_small_run_prints_as_expected(piped: Console) -> None:
    assert printed(small_run(), piped) == EXPECTED


EXPECTED = """\
          completion time s requests latency us CPU us/request ratio
  runtime      median   max    per s    p50 p99 service client

System 1: Single socket, no connection cache
  3.11          1.600 1.999      500    250 250    20.0   60.0  1.00  ██████████
  3.14t         1.000 1.000      999    125 125    20.0   20.0  1.60  ██████▎

System 3: Tornado
  3.11     invalid
    1 of 1 blocks invalid: the GIL was off at the end
  3.14t    failed
    1 of 1 blocks failed: Service 1 of 1 (3.14t, pid 7) exited with status 1
    before it was ready. Its last lines: Traceback: [...] ModuleNotFoundError:
    No module named 'tornado'

Of 4 measured cells 1 failed (Service 1 of 1 (3.14t, pid 7) exited with status 1
before it was ready. Its last lines: Traceback: [...] ModuleNotFoundError: No
module named 'tornado') and 1 invalid (the GIL was off at the end). No figure
includes them.
Runtime 3.13 was not found. Install it with: uv python install 3.13
Completion time: what a client took for all of its requests, median and maximum
over the clients; medians of 1 block. Latency (p50, p99): of all requests of all
blocks. CPU: user and system time per request.
Ratio: completion time under 3.11 / completion time under the row's runtime.
Above 1 the row is faster than 3.11, below 1 slower.
Method: clients run under the service's runtime.
The builds differ, and a ratio between them cannot tell these causes apart:
version 3.11.9 (3.11), 3.14.2 (3.14t).
Bars: median completion time; shorter is faster.
"""


class Ascii(io.StringIO):
    """A stream whose encoding has no blocks."""

    encoding = "ascii"


def test_where_the_encoding_has_no_blocks_bars_are_number_signs() -> None:
    out = Ascii()
    print_run(small_run(), TITLES, Console(file=out, width=80, highlight=False))
    assert "  1.60  ######\n" in out.getvalue()
    assert out.getvalue().isascii()


def test_bars_of_cells_that_were_timed_for_as_long_are_of_requests_per_second(piped: Console) -> None:
    run = small_run()
    run.plan["method"] = {"duration_s": 1.0}
    text = printed(run, piped)
    bars = [
        len(line.split()[-1]) for line in text.splitlines() if line.startswith(("  3.11 ", "  3.14t ")) and "█" in line
    ]
    assert len(bars) == 2
    assert bars[0] < bars[1]
    assert text.endswith("Bars: requests/s.\n")


def test_where_work_differs_between_systems_each_has_a_scale_of_its_own(piped: Console) -> None:
    other = {**SMALL, "NUM_REQUESTS_PER_CLIENT": 10}
    run = run_of(
        [measured(cell_of("1", "3.14t", SMALL), 1, [1000 * MS]), measured(cell_of("2", "3.14t", other), 1, [10 * MS])],
        runtimes=["3.14t"],
    )
    bars = [line.count("█") for line in printed(run, piped).splitlines() if line.startswith("  3.14t")]
    assert bars[0] == bars[1] > 5


def test_a_whole_record_fits_80_columns_with_every_runtime_and_setting(piped: Console, record: Run) -> None:
    text = printed(record, piped)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("  3.14t+gil ") == 11
    assert all("█" in line for line in text.splitlines() if line.startswith("  3.14t+gil "))
    assert "NUM_MULTI_SOCKET 10, SELECT_MODE single, CLIENT_BINDING pinned" in text
    for head in ("completion time s", "requests", "p50", "p99", "service", "client", "ratio"):
        assert head in text.split("System 1")[0]


def test_nothing_is_cut_short_and_nothing_trails(piped: Console, record: Run) -> None:
    text = printed(record, piped)
    assert "…" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_there_are_no_control_codes_in_a_pipe(piped: Console) -> None:
    assert "\x1b" not in printed(small_run(), piped)


def test_columns_says_how_wide_a_pipe_is(monkeypatch: pytest.MonkeyPatch, record: Run) -> None:
    monkeypatch.setenv("COLUMNS", "130")
    assert "wall" in printed(record, terminal(io.StringIO()))


@pytest.mark.parametrize("width", [40, 50, 60, 70])
def test_a_narrow_terminal_gets_fewer_columns_and_always_the_median(width: int, record: Run) -> None:
    text = printed(record, Console(file=io.StringIO(), width=width, highlight=False))
    assert max(map(len, text.splitlines())) <= width
    assert "median" in text


def test_no_color_means_no_colours_on_a_terminal_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    text = printed(small_run(), Console(file=io.StringIO(), width=80, force_terminal=True))
    assert "\x1b[31m" not in text
    assert "\x1b[1m" in text


def test_failures_missing_runtimes_and_the_direction_of_the_ratio_are_told(piped: Console) -> None:
    text = " ".join(printed(small_run(), piped).split())
    assert "1 of 1 blocks failed: Service 1 of 1 (3.14t, pid 7) exited with status 1 before it was ready." in text
    assert "[...] ModuleNotFoundError: No module named 'tornado'" in text
    assert "1 of 1 blocks invalid: the GIL was off at the end" in text
    assert "Of 4 measured cells 1 failed" in text
    assert "uv python install 3.13" in text
    assert "Above 1 the row is faster than 3.11, below 1 slower." in text
    assert "version 3.11.9 (3.11), 3.14.2 (3.14t)" in text


def test_one_runtime_alone_has_no_ratio(piped: Console) -> None:
    run = run_of([measured(cell_of("1", "3.14t", SMALL), 1, [MS])], blocks=1, runtimes=["3.14t"])
    assert "ratio" not in printed(run, piped).lower()


def test_titles_with_brackets_are_no_markup(piped: Console) -> None:
    run = small_run()
    run.plan["rows"][0]["title"] = "[red]odd[/] title"
    assert "[red]odd[/] title" in printed(run, piped)


def test_the_markdown_table_has_a_line_per_row_and_the_same_figures() -> None:
    run = small_run()
    lines = table_page(run, rows(run), TITLES).splitlines()
    assert "| 1 Single socket, no connection cache | 3.14t   |" in lines[5]
    cells = [cell.strip() for cell in lines[5].split("|")[1:-1]]
    assert cells[2:] == ["1.000", "1.000", "1.001", "999", "125", "125", "20.0", "20.0", "1.60", "1", "ok"]
    assert "failed: Service 1 of 1" in lines[7]


def test_marks_in_a_reason_do_not_break_a_markdown_table() -> None:
    lines = markdown_table(["a", "b"], [["x|y", "two\nlines <b> *c*"]]).splitlines()
    assert lines[2] == "| x\\|y | two lines \\<b> \\*c\\* |"
    assert len({len(line) for line in lines}) == 1


def test_the_sheet_of_rows_has_raw_numbers_and_all_parameters() -> None:
    lines = list(csv.DictReader(io.StringIO(rows_sheet(rows(small_run())))))
    assert [line["status"] for line in lines] == ["ok", "ok", "invalid", "failed"]
    assert lines[0]["completion_median_ns"] == "1600000000"
    assert lines[1]["ratio_to_first_runtime"] == "1.6"
    assert lines[0]["NUM_WORKERS_PER_API_SERVICE"] == "25"
    assert lines[2]["completion_median_ns"] == ""
    assert "the GIL was off" in lines[2]["trouble"]
