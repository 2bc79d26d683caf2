"""What all contests show: who is first, tables that lead to their cells, bars, sweeps, and what a terminal has."""

import pytest

from core.result import CellResult, Run
from tests.reports.contestants import (
    blocks_of,
    contest_run,
    figures_of,
)


def echo(system: str, rate: float, connections: int = 3, size: int = 1000, runtime: str = "native") -> list[CellResult]:
    """Three blocks of a server."""
    return blocks_of(system, rate, runtime=runtime, NUM_CONNECTIONS_PER_CLIENT=connections, MESSAGE_BYTES=size)


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


def test_what_varies_has_a_figure_with_a_line_for_each_contestant() -> None:
    found = figures_of(swept())
    assert set(found) == {"throughput", "throughput-num_connections_per_client", "throughput-message_bytes"}
    panels = found["throughput-num_connections_per_client"].panels
    assert [str(panel.title) for panel in panels] == ["MESSAGE_BYTES 1000", "MESSAGE_BYTES 2000"]
    first = panels[0]
    assert [str(curve.name) for curve in first.curves] == ["uvloop (Python over libuv), 3.14t", "libuv (C)"]
    assert [x for x, _ in first.curves[0].line] == [1, 10, 100]
    assert [y for _, y in first.curves[0].line] == [pytest.approx(9000), pytest.approx(90_000), pytest.approx(900_000)]
    assert (first.across.is_log, first.across.ticks) == (True, ((1, "1"), (10, "10"), (100, "100")))
