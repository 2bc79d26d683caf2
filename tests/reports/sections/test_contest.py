"""What all contests show: who is first, tables that lead to their cells, bars, sweeps, and what a terminal has."""

from typing import Any

import pytest

from core.result import CellResult, Run
from reports.rows.traces import of_cells
from tests.reports.contestants import (
    blocks_of,
    contest_run,
    figures_of,
    printed,
    record_of,
    sentences,
)
from tests.reports.sample import cell_of, faulty

LIBUV, UVLOOP, NETTY = "libuv (C)", "uvloop (Python over libuv), 3.14t", "Netty (Java)"


def three(**params: Any) -> Run:
    return contest_run(
        blocks_of("echo-libuv", 20_000, **params),
        blocks_of("echo-netty", 15_000, **params),
        blocks_of("echo-uvloop", 10_000, runtime="3.14t", **params),
    )


def echo(system: str, rate: float, connections: int = 3, size: int = 1000, runtime: str = "native") -> list[CellResult]:
    """Three blocks of a server."""
    return blocks_of(system, rate, runtime=runtime, NUM_CONNECTIONS_PER_CLIENT=connections, MESSAGE_BYTES=size)


@pytest.fixture(scope="module")
def swept() -> Run:
    """Two servers at three numbers of connections and two sizes."""
    return contest_run(
        *(
            echo(system, rate * connections / size, connections, size, runtime)
            for system, rate, runtime in (("echo-uvloop", 9e6, "3.14t"), ("echo-libuv", 8e6, "native"))
            for connections in (1, 10, 100)
            for size in (1000, 2000)
        )
    )


def test_the_answer_is_the_first_the_second_and_the_last_with_the_cells_of_each() -> None:
    run = three()
    (answer,) = record_of(run).answer
    assert str(answer) == (
        f"{LIBUV} is first with 20,000 requests/s, then {NETTY} with 15,000; {UVLOOP} is last with 10,000."
    )
    rates: Any = [answer.args[name] for name in ("rate", "second_rate", "last_rate")]
    assert [rate.cells for rate in rates] == [of_cells(run.cells[start : start + 3]) for start in (0, 3, 6)]
    assert {rate.figure for rate in rates} == {"requests_per_s"}


def test_two_are_first_and_second_and_one_is_first() -> None:
    two = contest_run(blocks_of("echo-libuv", 20_000), blocks_of("echo-uvloop", 10_000, runtime="3.14t"))
    assert str(record_of(two).answer[0]) == f"{LIBUV} is first with 20,000 requests/s, then {UVLOOP} with 10,000."
    one = contest_run(blocks_of("echo-libuv", 20_000))
    assert str(record_of(one).answer[0]) == f"{LIBUV} is first with 20,000 requests/s."


def test_each_setting_has_a_panel_with_the_fastest_first_and_a_mark_for_each_block(swept: Run) -> None:
    panels = figures_of(swept)["throughput"].panels
    assert [str(panel.title) for panel in panels[:2]] == [
        "NUM_CONNECTIONS_PER_CLIENT 1, MESSAGE_BYTES 1000",
        "NUM_CONNECTIONS_PER_CLIENT 1, MESSAGE_BYTES 2000",
    ]
    assert len(panels) == 6
    assert [str(text) for _, text in panels[0].up.ticks] == [UVLOOP, LIBUV]
    spans = [curve.spans[0] for curve in panels[0].curves]
    assert [span.end for span in spans] == [pytest.approx(9000), pytest.approx(8000)]
    assert [(span.start, span.text) for span in spans] == [(0, "9,000"), (0, "8,000")]
    assert [len(curve.marks) for curve in panels[0].curves] == [3, 3]


def test_what_varies_has_a_figure_with_a_line_for_each_contestant(swept: Run) -> None:
    found = figures_of(swept)
    assert set(found) == {"throughput", "throughput-num_connections_per_client", "throughput-message_bytes"}
    panels = found["throughput-num_connections_per_client"].panels
    assert [str(panel.title) for panel in panels] == ["MESSAGE_BYTES 1000", "MESSAGE_BYTES 2000"]
    first = panels[0]
    assert [str(curve.name) for curve in first.curves] == [UVLOOP, LIBUV]
    assert [x for x, _ in first.curves[0].line] == [1, 10, 100]
    assert [y for _, y in first.curves[0].line] == [pytest.approx(9000), pytest.approx(90_000), pytest.approx(900_000)]
    assert (first.across.is_log, first.across.ticks) == (True, ((1, "1"), (10, "10"), (100, "100")))


def test_a_server_that_failed_has_no_bar_and_a_run_of_failures_no_figures() -> None:
    cell = cell_of("echo-asio", "native", {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1})
    failed = [faulty(cell, block, "failed", "it died") for block in (1, 2, 3)]
    (panel,) = figures_of(contest_run(echo("echo-libuv", 2000), failed))["throughput"].panels
    assert len(panel.curves) == 1
    assert figures_of(contest_run(failed)) == {}


def test_what_is_absent_is_said_with_its_reason() -> None:
    run = contest_run(blocks_of("echo-libuv", 20_000), absent={("echo-netty", "native"): "not built: needs mvn"})
    assert sentences(run)[-1] == "Not measured: Netty (Java) - not built: needs mvn"


def test_a_terminal_has_the_table_within_its_width_and_the_sentences() -> None:
    shown = printed(three())
    (line,) = [line for line in shown.splitlines() if line.startswith("uvloop (Python over libuv), 3.14t  ")]
    assert "10,000" in line.split()
    assert max(map(len, shown.splitlines())) <= 80
    assert "libuv (C) is first with 20,000 requests/s" in shown


def test_bars_are_as_long_as_the_requests_where_there_is_room() -> None:
    lines = [line for line in printed(three(), width=160).splitlines() if line.count("0.50 (") + line.count("1.00 (")]
    assert [line.count("█") for line in lines][:2] == [24, 12]
