"""What the plots show, and that they are written."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from core.cell import Value
from core.errors import BadInput
from core.histogram import Histogram
from core.method import Method
from core.result import CellResult, Run
from reports.findings.findings import print_findings
from reports.plots.draw import figures
from reports.rows.curves import curve, percentiles
from reports.rows.summary import rows
from reports.rows.sweeping import sweeps
from reports.terminal.console import terminal
from reports.terminal.tables import print_run
from reports.write import write_all
from tests.reports.sample import MS, RUNTIMES, TITLES, cell_of, faulty, measured, run_of, seed_run
from tests.reports.sweeps import served, sized

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}
SVG_START = b"<?xml"
PNG_START = b"\x89PNG"


def swept(name: str, values: Sequence[Value], system: str = "4") -> Run:
    cells = [
        measured(cell_of(system, runtime, {**SMALL, name: value}), block, [place * 100 * MS + block * MS])
        for place, value in enumerate(values, 1)
        for runtime in ("3.11", "3.14t")
        for block in (1, 2)
    ]
    return run_of(cells, blocks=2)


def drawn(run: Run) -> dict[str, Figure]:
    return figures(run, rows(run), TITLES)


def legend_of(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def xs_of(line: Line2D) -> list[float]:
    return [float(x) for x in np.asarray(line.get_xdata(), dtype=float)]


@pytest.fixture(scope="module")
def record_figures() -> dict[str, Figure]:
    return drawn(seed_run(blocks=2))


def test_a_record_has_its_three_plots_with_units_and_every_runtime(record_figures: dict[str, Figure]) -> None:
    assert list(record_figures) == ["completion", "sweep-num_multi_socket-4", "latency"]
    labels = {
        name: (figure.axes[-1].get_xlabel(), figure.axes[0].get_ylabel()) for name, figure in record_figures.items()
    }
    assert labels == {
        "completion": ("completion time of a client, median over clients [s]", ""),
        "sweep-num_multi_socket-4": ("NUM_MULTI_SOCKET", "completion time of a client [s]"),
        "latency": ("percentile of requests [%]", "latency [us]"),
    }
    for figure in record_figures.values():
        assert legend_of(figure) == list(RUNTIMES)


def test_completion_has_a_panel_per_system_a_bar_per_runtime_and_a_mark_per_block(
    record_figures: dict[str, Figure],
) -> None:
    panels = record_figures["completion"].axes
    assert [axes.get_title(loc="left") for axes in panels] == [f"System {one}: {TITLES[one]}" for one in "1234"]
    assert [len(axes.patches) for axes in panels] == [4, 8, 4, 28]
    assert all(len(xs_of(line)) == 2 for axes in panels for line in axes.lines)


def test_bars_begin_at_zero_and_end_at_the_median() -> None:
    cell = cell_of("1", "3.11", SMALL)
    run = run_of([measured(cell, block, [block * 100 * MS]) for block in (1, 2, 3)])
    axes = drawn(run)["completion"].axes[0]
    assert axes.get_xlim()[0] == 0
    assert [bar.get_width() for bar in axes.patches] == [pytest.approx(0.2)]  # type: ignore[attr-defined]
    assert "3.14t not measured" in [text.get_text() for text in axes.texts]


def test_a_failed_row_says_so_where_its_bar_would_be() -> None:
    cells = [measured(cell_of("1", "3.11", SMALL), 1, [MS]), faulty(cell_of("1", "3.14t", SMALL), 1, "failed", "why")]
    axes = drawn(run_of(cells, blocks=1))["completion"].axes[0]
    assert "3.14t failed" in [text.get_text() for text in axes.texts]


def test_runtimes_differ_in_more_than_colour(record_figures: dict[str, Figure]) -> None:
    bars = record_figures["completion"].axes[0].patches
    lines = record_figures["latency"].axes[0].lines[::2]
    marks = record_figures["latency"].axes[0].lines[1::2]
    assert len({bar.get_hatch() for bar in bars}) == 4
    assert len({line.get_linestyle() for line in lines}) == 4
    assert len({line.get_marker() for line in marks}) == 4


def test_a_sweep_has_a_panel_for_each_set_of_the_other_parameters() -> None:
    (sweep,) = sweeps(rows(seed_run(blocks=1)))
    panels = [
        [(row.params["SELECT_MODE"], row.params["NUM_MULTI_SOCKET"]) for row in panel if row.runtime == "3.11"]
        for panel in sweep.panels
    ]
    assert panels == [[("all", 1), ("all", 5), ("all", 10)], [("single", 1), ("single", 5), ("single", 10)]]


def test_a_parameter_that_follows_another_has_no_plot_of_its_own_and_is_named() -> None:
    cells = [
        measured(cell_of("1", "3.11", {**SMALL, "NUM_API_SERVICES": count, "NUM_CLIENTS": count}), 1, [count * MS])
        for count in (1, 2)
    ]
    run = run_of(cells, blocks=1, runtimes=["3.11"])
    assert [(sweep.name, sweep.follows) for sweep in sweeps(rows(run))] == [("NUM_API_SERVICES", ("NUM_CLIENTS",))]
    axes = drawn(run)["sweep-num_api_services-1"].axes[0]
    assert axes.get_xlabel() == "NUM_API_SERVICES\n(with it NUM_CLIENTS)"


def test_a_sweep_shows_every_value_and_the_parameters_unit() -> None:
    run = swept("PAYLOAD_BYTES", [0, 1000, 5000])
    axes = drawn(run)["sweep-payload_bytes-4"].axes[0]
    assert axes.get_xlabel() == "PAYLOAD_BYTES [bytes]"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1000", "5000"]
    assert [xs_of(line) for line in axes.lines[:2]] == [[0, 1000, 5000], [0, 0, 1000, 1000, 5000, 5000]]
    low, high = axes.get_ylim()
    assert low == 0
    assert high > 0.302


def test_none_has_its_place_after_the_numbers() -> None:
    run = swept("NUM_MAX_CONNS", [None, 4, 1], system="2")
    axes = drawn(run)["sweep-num_max_conns-2"].axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "4", "none"]


def test_a_curve_ends_where_ten_requests_are_slower() -> None:
    latency = Histogram()
    for value_us in range(1, 1001):
        latency.record(value_us * 1000)
    points = curve(latency)
    assert points[0][0] == 1
    assert points[0][1] == pytest.approx(1.0, rel=0.004)
    assert points[-1][0] == 100
    assert points[-1][1] == pytest.approx(990, rel=0.004)
    assert points == sorted(points)
    assert [y for _, y in points] == sorted(y for _, y in points)


def test_marks_are_the_nearest_rank_percentiles_that_the_count_bears() -> None:
    latency = Histogram()
    for value_ns in range(1, 201):
        latency.record(value_ns)
    assert percentiles(latency) == [(2.0, 0.1), (10.0, 0.18)]


@pytest.mark.parametrize("count", [0, 1, 10])
def test_there_is_no_curve_of_ten_requests_or_fewer(count: int) -> None:
    latency = Histogram()
    for _ in range(count):
        latency.record(5)
    assert curve(latency) == []


def test_a_run_without_an_ok_cell_has_tables_and_no_plots(tmp_path: Path) -> None:
    run = run_of([faulty(cell_of("1", "3.11", SMALL), 1, "failed", "why")], blocks=1)
    assert [path.name for path in write_all(run, tmp_path, TITLES)] == [
        "report.html",
        "table.md",
        "findings.md",
        "table.csv",
        "cells.csv",
    ]


def test_all_files_of_a_run_are_written_and_whole(tmp_path: Path) -> None:
    run = swept("NUM_MULTI_SOCKET", [1, 5])
    paths = write_all(run, tmp_path, TITLES)
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        "report.html",
        "table.md",
        "findings.md",
        "table.csv",
        "cells.csv",
        "plots/completion.svg",
        "plots/completion.png",
        "plots/sweep-num_multi_socket-4.svg",
        "plots/sweep-num_multi_socket-4.png",
    ]
    for path in paths:
        content = path.read_bytes()
        assert len(content) > 200
        assert content.startswith({".svg": SVG_START, ".png": PNG_START}.get(path.suffix, b""))


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    run = swept("NUM_MULTI_SOCKET", [1, 5])
    first = {path: path.read_bytes() for path in write_all(run, tmp_path, TITLES)}
    assert {path: path.read_bytes() for path in write_all(run, tmp_path, TITLES)} == first


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nowhere cannot be written: No such file"):
        write_all(swept("NUM_MULTI_SOCKET", [1]), tmp_path / "nowhere", TITLES)


# ---- cells without clients, and cells timed for a duration ---------------------------------------------------------


def with_clients(count: int, block: int, runtime: str, mib: float) -> CellResult:
    """A cell of so many clients, all of whose processes tell their memory; without any, nothing is timed."""
    values: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": count}
    clients = sized(*[mib] * count)
    cell = served(runtime, block, 1000 * count, values, services=sized(mib), clients=clients)
    return cell if count else replace(cell, wall_ns=0, latency={})


def from_no_clients_on() -> Run:
    cells = [
        with_clients(count, block, runtime, 10 + count + block / 10)
        for count in (0, 1, 2, 3)
        for runtime in ("3.11", "3.14t")
        for block in (1, 2, 3)
    ]
    return run_of(cells)


def timed(run: Run) -> Run:
    run.plan["method"] = Method(duration_s=2.0).to_json()
    return run


def printed(run: Run) -> str:
    out = io.StringIO()
    print_run(run, TITLES, terminal(out))
    print_findings(run, terminal(out))
    return out.getvalue()


def test_a_run_whose_clients_begin_at_none_is_drawn_written_and_printed(tmp_path: Path) -> None:
    run = from_no_clients_on()
    assert {"completion", "memory-services", "memory-clients"} <= drawn(run).keys()
    assert "NUM_CLIENTS" in printed(run)
    assert {"findings.md", "memory-clients.svg"} <= {path.name for path in write_all(run, tmp_path, TITLES)}


def test_a_run_of_idle_cells_alone_is_printed_and_has_no_plot_of_time(tmp_path: Path) -> None:
    run = from_no_clients_on()
    run.cells = [cell for cell in run.cells if not cell.clients]
    assert "completion" not in drawn(run)
    assert "System 2" in printed(run)
    assert write_all(run, tmp_path, TITLES)


def test_memory_that_is_the_same_in_every_cell_is_drawn_and_printed() -> None:
    run = from_no_clients_on()
    usage = {"max_rss_bytes": 2**24, "pss_bytes": 0}
    run.cells = [replace(cell, services=[one | usage for one in cell.services]) for cell in run.cells]
    assert drawn(run)
    assert "NUM_CLIENTS" in printed(run)


def test_a_run_timed_for_a_duration_is_drawn_without_completion_times_written_and_printed(tmp_path: Path) -> None:
    run = timed(from_no_clients_on())
    assert set(drawn(run)) & {"completion", "sweep-num_clients-2"} == set()
    assert {"memory-services", "memory-clients"} <= drawn(run).keys()
    assert "System 2" in printed(run)
    assert {"findings.md", "memory-clients.svg"} <= {path.name for path in write_all(run, tmp_path, TITLES)}


def test_latencies_of_a_run_timed_for_a_duration_are_drawn() -> None:
    assert "latency" in drawn(timed(seed_run(blocks=1)))
