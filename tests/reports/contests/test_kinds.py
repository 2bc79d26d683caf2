"""Which runs have a record of their own, and what of it a terminal shows."""

from io import StringIO

import pytest
from rich.console import Console

from config.plan_options import VIEWS
from core.result import Run
from reports.contests.kinds import RECORDS, print_record, record_of
from reports.rows.view import view_of
from tests.reports.contestants import TITLES, blocks_of, contest_run
from tests.reports.sample import cell_of, faulty

ECHO = (
    blocks_of("echo-libuv", 20_000, latencies_ns=[100_000, 200_000]),
    blocks_of("echo-uvloop", 10_000, runtime="3.14t", latencies_ns=[300_000]),
)
LOADGEN = (
    blocks_of("load-own", 120_000, latencies_ns=[100_000], KEEP_ALIVE=True),
    blocks_of("load-wrk", 100_000, KEEP_ALIVE=True),
)


def printed(run: Run, width: int = 80) -> str:
    """What a terminal of *width* columns shows of the run's record."""
    view, out = view_of(run, TITLES), StringIO()
    record = record_of(view)
    assert record is not None
    print_record(record, view, Console(file=out, width=width))
    return out.getvalue()


@pytest.mark.parametrize("view", ["", "nothing that we know"])
def test_a_run_without_a_view_that_we_know_has_no_record(view: str) -> None:
    assert record_of(view_of(contest_run(*ECHO, view=view))) is None


def test_every_view_that_a_plan_may_ask_for_has_a_record() -> None:
    assert set(RECORDS) == set(VIEWS)


def test_the_record_echo_is_a_table_and_what_it_says() -> None:
    said = printed(contest_run(*ECHO, absent={("echo-tokio", "native"): "not built: needs cargo"}))
    assert "All servers" in said
    assert "libuv (C) is first with 20,000 requests/s" in said
    assert said.count("Not measured: ") == 1
    rows = [line for line in said.splitlines() if line.startswith("libuv (C)  ")]
    assert [line.split()[2:4] for line in rows] == [["20,000", "150"]]


def test_the_record_loadgen_is_a_table_and_what_it_says() -> None:
    said = " ".join(printed(contest_run(*LOADGEN, view="loadgen")).split())
    assert "Connections are kept" in said
    assert "gilscope's own generator with keep-alive: 120,000 requests/s, 1.20 [1.20, 1.20] x wrk." in said


def test_no_line_of_a_table_is_wider_than_the_terminal() -> None:
    for run in (contest_run(*ECHO), contest_run(*LOADGEN, view="loadgen")):
        table = [line for line in printed(run).splitlines() if "0,000 " in line and "requests/s" not in line]
        assert table
        assert max(map(len, table)) <= 80


def test_bars_are_as_long_as_the_requests_where_there_is_room() -> None:
    """The second has half of the requests: 12 of 24 characters."""
    lines = printed(contest_run(*ECHO), width=120).splitlines()
    bars = [line.count("█") for line in lines if "0,000 " in line and "requests/s" not in line]
    assert bars == [24, 12]


def test_a_narrow_terminal_has_the_figures_alone() -> None:
    assert "█" not in printed(contest_run(*ECHO), width=70)


def test_a_server_that_failed_is_said() -> None:
    failed = [faulty(cell_of("echo-asio", "native"), block, "failed", "it died early") for block in (1, 2, 3)]
    assert "it died early" in printed(contest_run(*ECHO, failed))
