"""What all contests show: who is first, tables that lead to their cells, bars, sweeps, and what a terminal has."""

from typing import Any

import pytest

from core.result import CellResult, Run
from tests.reports.contestants import (
    blocks_of,
    contest_run,
    figures_of,
    printed,
)

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


def test_bars_are_as_long_as_the_requests_where_there_is_room() -> None:
    lines = [line for line in printed(three(), width=160).splitlines() if line.count("0.50 (") + line.count("1.00 (")]
    assert [line.count("█") for line in lines][:2] == [24, 12]
