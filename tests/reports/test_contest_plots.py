"""Plots of experiments that compare systems: requests a second by contestant, and against what varies."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from core.result import CellResult, Run
from reports.plots.draw import figures
from reports.plots.style import looks
from reports.rows.summary import rows
from tests.reports.contestants import TITLES, blocks_of, contest_run
from tests.reports.sample import cell_of, faulty


def echo(system: str, rate: float, connections: int = 3, size: int = 1000, runtime: str = "native") -> list[CellResult]:
    """Three blocks of a server."""
    return blocks_of(system, rate, runtime=runtime, NUM_CONNECTIONS_PER_CLIENT=connections, MESSAGE_BYTES=size)


def drawn(run: Run) -> dict[str, Figure]:
    return figures(run, rows(run), TITLES)


@pytest.fixture(scope="module")
def swept() -> dict[str, Figure]:
    """Two servers at three numbers of connections and two sizes."""
    return drawn(
        contest_run(
            *(
                echo(system, rate * connections / size, connections, size, runtime)
                for system, rate, runtime in (("echo-uvloop", 9e6, "3.14t"), ("echo-libuv", 8e6, "native"))
                for connections in (1, 10, 100)
                for size in (1000, 2000)
            )
        )
    )


def test_a_contest_has_a_panel_for_each_setting_and_in_it_the_fastest_first(swept: dict[str, Figure]) -> None:
    panels = swept["throughput"].axes
    assert [axes.get_title(loc="left") for axes in panels[:2]] == [
        "NUM_CONNECTIONS_PER_CLIENT 1, MESSAGE_BYTES 1000",
        "NUM_CONNECTIONS_PER_CLIENT 1, MESSAGE_BYTES 2000",
    ]
    assert len(panels) == 6
    assert [text.get_text() for text in panels[0].get_yticklabels()] == [
        "uvloop (Python over libuv), 3.14t",
        "libuv (C)",
    ]
    assert [bar.get_width() for bar in panels[0].patches] == [pytest.approx(9000), pytest.approx(8000)]  # type: ignore[attr-defined]
    assert [text.get_text() for text in panels[0].texts] == ["9,000", "8,000"]


def test_bars_of_a_contest_begin_at_zero_and_have_a_mark_for_each_block(swept: dict[str, Figure]) -> None:
    axes = swept["throughput"].axes[0]
    assert axes.get_xlim()[0] == 0
    assert [len(np.asarray(line.get_xdata())) for line in axes.lines] == [3, 3]
    assert axes.get_xlabel() == "answered requests/s"


def test_what_varies_has_a_figure_with_a_line_for_each_contestant(swept: dict[str, Figure]) -> None:
    assert {name for name in swept if name.startswith("throughput-")} == {
        "throughput-num_connections_per_client",
        "throughput-message_bytes",
    }
    figure = swept["throughput-num_connections_per_client"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["MESSAGE_BYTES 1000", "MESSAGE_BYTES 2000"]
    line = figure.axes[0].lines[0]
    assert list(zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True)) == [
        (1, pytest.approx(9000)),
        (10, pytest.approx(90_000)),
        (100, pytest.approx(900_000)),
    ]
    assert figure.axes[0].get_xscale() == "log"
    assert figure.axes[-1].get_xlabel() == "NUM_CONNECTIONS_PER_CLIENT"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["uvloop (Python over libuv), 3.14t", "libuv (C)"]


def test_a_contest_at_one_setting_has_no_figure_of_what_varies() -> None:
    names = list(drawn(contest_run(echo("echo-libuv", 2000), echo("echo-asio", 1000))))
    assert names == ["throughput"]


def test_a_server_that_failed_has_no_bar_and_a_run_of_failures_no_plots() -> None:
    cell = cell_of("echo-asio", "native", {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1})
    failed = [faulty(cell, block, "failed", "it died") for block in (1, 2, 3)]
    (axes,) = drawn(contest_run(echo("echo-libuv", 2000), failed))["throughput"].axes
    assert len(axes.patches) == 1
    assert drawn(contest_run(failed)) == {}


def test_generators_with_kept_and_with_new_connections_are_apart() -> None:
    run = contest_run(
        *(blocks_of("load-own", rate, KEEP_ALIVE=kept) for rate, kept in ((9000, True), (1000, False))),
        blocks_of("load-wrk", 8000, KEEP_ALIVE=True),
        view="loadgen",
    )
    panels = drawn(run)["throughput"].axes
    assert [axes.get_title(loc="left") for axes in panels] == ["KEEP_ALIVE true", "KEEP_ALIVE false"]


def test_who_tells_no_latencies_has_no_panel_of_them() -> None:
    own = blocks_of("load-own", 1000, latencies_ns=[1000] * 100, KEEP_ALIVE=True)
    run = contest_run(own, blocks_of("load-wrk", 900, KEEP_ALIVE=True), view="loadgen")
    assert len(drawn(run)["latency"].axes) == 1


def test_more_contestants_than_colours_look_different_all_the_same() -> None:
    every = [(look.colour, look.line, look.marker) for look in looks([str(number) for number in range(32)]).values()]
    assert len(set(every)) == 32
