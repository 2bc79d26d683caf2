"""The plots of the HTTP clients: what they show, and that nothing covers anything."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from core.result import CellResult
from reports.plots.http_clients import draw
from reports.plots.style import styled
from reports.rows.summary import rows
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.sample import MS

WORKERS = 3
REQUESTS = 4
TITLES = {
    "http-beast-native": "C++ Beast",
    "http-beast-held": "held",
    "http-beast-released": "released",
    "http-aiohttp": "aiohttp",
}


def worked(system: str, runtime: str, bench_ms: int = 3, *, timeline: bool = True, **params: Any) -> list[CellResult]:
    """Three workers of a loop of 1 ms, whose requests take 0.2 ms, one every 0.25 ms, one worker after the other."""
    firsts = [
        [[(worker * 4 + number) * 250_000, (worker * 4 + number) * 250_000 + 200_000] for number in range(REQUESTS)]
        for worker in range(WORKERS)
    ]
    client = {"workers_ns": [MS] * WORKERS, "bench_ns": bench_ms * MS, **({"timeline": firsts} if timeline else {})}
    return blocks_of(system, 50, runtime=runtime, latencies_ns=[200_000] * 12, client=client, **params)


def drawn(*cells: Sequence[CellResult]) -> dict[str, Figure]:
    """The plots of a run of these cells."""
    with styled():
        return draw(rows(contest_run(*cells, view="http-clients")), TITLES)


def marks(panel: Axes) -> list[tuple[float, float]]:
    """Place of each mark: serialisation and line."""
    lines = [one.lines[0] for one in panel.containers if isinstance(one, ErrorbarContainer)]
    return [(float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0])) for line in lines]


def bars(panel: Axes) -> list[list[tuple[float, float]]]:
    """Of each worker: begin and end of its bars."""
    every = [one.get_paths() for one in panel.collections if isinstance(one, PolyCollection)]
    return [[(path.get_extents().x0, path.get_extents().x1) for path in paths] for paths in every]


def titles_of(figure: Figure) -> list[str]:
    """The titles of a figure's panels."""
    return [panel.get_title(loc="left") for panel in figure.axes]


@pytest.fixture
def both() -> dict[str, Figure]:
    """Held and released under each runtime, and the native program."""
    return drawn(
        worked("http-beast-native", "native"),
        *(worked("http-beast-held", runtime, 9) for runtime in ("3.11", "3.14", "3.14t+gil", "3.14t")),
        *(worked("http-beast-released", runtime) for runtime in ("3.11", "3.14", "3.14t+gil", "3.14t")),
    )


def test_serialisation_has_a_line_for_each_client_and_a_mark_for_each_runtime(both: dict[str, Figure]) -> None:
    (panel,) = both["serialisation"].axes
    assert panel.get_xlabel() == "Bench / LMean"
    assert panel.get_xscale() == "log"
    assert [label.get_text() for label in panel.get_yticklabels()] == ["C++ Beast", "held", "released"]
    found = marks(panel)
    assert [round(share, 6) for share, _ in found] == [3, 9, 9, 9, 9, 3, 3, 3, 3]
    assert [round(place) for _, place in found] == [0, 1, 1, 1, 1, 2, 2, 2, 2]
    assert len({place for _, place in found}) == len(found)
    (legend,) = both["serialisation"].legends
    assert [text.get_text() for text in legend.get_texts()] == ["native", "3.11", "3.14", "3.14t+gil", "3.14t"]


def test_serialisation_has_a_panel_for_each_setting_with_one_scale() -> None:
    few, many = (worked("http-beast-held", "3.11", bench, NUM_REQUESTS_PER_CLIENT=100 * bench) for bench in (3, 20))
    figure = drawn(few, many)["serialisation"]
    assert titles_of(figure) == ["NUM_REQUESTS_PER_CLIENT 300", "NUM_REQUESTS_PER_CLIENT 2000"]
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim()
    low, high = first.get_xlim()
    assert low < 1
    assert 20 < high < 30


def test_a_client_without_serialisation_leaves_room_to_see_it() -> None:
    (panel,) = drawn(worked("http-beast-held", "3.11", 1))["serialisation"].axes
    assert panel.get_xlim()[1] == 2
    assert marks(panel) == [(1.0, 0.0)]


def test_the_legend_covers_no_panel(both: dict[str, Figure]) -> None:
    figure = both["serialisation"]
    figure.draw_without_rendering()
    (legend,) = figure.legends
    boxes = [panel.get_tightbbox() for panel in figure.axes]
    assert legend.get_window_extent().y0 >= max(box.y1 for box in boxes if box)


def test_the_timeline_shows_held_and_released_under_the_newest_with_a_gil_and_held_without_one(
    both: dict[str, Figure],
) -> None:
    figure = both["timeline"]
    assert [title.partition(":")[0] for title in titles_of(figure)] == ["held, 3.14", "released, 3.14", "held, 3.14t"]
    assert figure.axes[-1].get_xlabel() == "time since the release [ms]"
    assert {panel.get_ylabel() for panel in figure.axes} == {"worker"}


def test_the_timeline_has_a_line_for_each_worker_and_a_bar_for_each_request(both: dict[str, Figure]) -> None:
    for panel in both["timeline"].axes:
        assert [label.get_text() for label in panel.get_yticklabels()] == ["1", "2", "3"]
        found = bars(panel)
        assert [len(one) for one in found] == [REQUESTS] * WORKERS
        assert found[0][1] == pytest.approx((0.25, 0.45))
        assert found[2][3] == pytest.approx((2.75, 2.95))


def test_a_panels_title_says_how_many_requests_were_in_flight() -> None:
    """12 requests of 0.2 ms in each block: 2.4 ms in a Bench of 3 ms."""
    figure = drawn(worked("http-beast-held", "3.11"))["timeline"]
    assert titles_of(figure) == ["held, 3.11: 0.8 requests in flight"]


def test_without_3_14_the_timelines_are_of_3_11() -> None:
    figure = drawn(worked("http-beast-held", "3.11"), worked("http-beast-released", "3.11"))["timeline"]
    assert [title.partition(":")[0] for title in titles_of(figure)] == ["held, 3.11", "released, 3.11"]


def test_there_is_no_timeline_where_none_of_its_clients_told_one() -> None:
    assert list(drawn(worked("http-aiohttp", "3.11"))) == ["serialisation"]
    assert list(drawn(worked("http-beast-held", "3.11", timeline=False))) == ["serialisation"]


def test_there_are_no_plots_where_no_client_told_its_workers_times() -> None:
    assert drawn(blocks_of("http-aiohttp", 50, runtime="3.11", latencies_ns=[MS])) == {}
    assert drawn([]) == {}
