"""What a row of the HTTP clients says of its workers, and their timelines. tests/golden has sentences and tables."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from experiments.http_clients.http_clients_section import bench_ns, lmean_ns, serialisation
from record.saved_run import CellResult
from tests.experiments.http_clients.sample import HELD, only_client
from tests.reports.contestants import blocks_of, contest_run, figures_of
from tests.reports.sample import MS, with_clients
from tests.tables import each_row


def telling(blocks: Sequence[tuple[Sequence[int], int]]) -> list[CellResult]:
    """A cell of held under 3.11 in each block: its workers' loops and its Bench, ms."""
    cells = blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=[MS], blocks=range(1, len(blocks) + 1))
    return [
        with_clients(cell, workers_ns=[one * MS for one in loops], bench_ns=bench * MS)
        for cell, (loops, bench) in zip(cells, blocks, strict=True)
    ]


@each_row
def test_lmean_and_bench_are_medians_over_the_blocks_and_serialisation_is_the_median_of_their_ratios(
    blocks: Any, lmean_ms: int, bench_ms: int, ratio: tuple[float, float, float]
) -> None:
    line = only_client(telling(blocks))
    assert (lmean_ns(line), bench_ns(line)) == (lmean_ms * MS, bench_ms * MS)
    found = serialisation(line)
    assert (found.value, found.low, found.high) == pytest.approx(ratio)
    assert found.count == 3


def test_workers_of_several_clients_count_together_and_bench_is_the_longest() -> None:
    one, other = telling([([2], 3), ([4], 6)])
    line = only_client([replace(one, clients=[*one.clients, *other.clients])])
    assert (lmean_ns(line), bench_ns(line)) == (3 * MS, 6 * MS)
    assert serialisation(line).value == pytest.approx(2)


TIMELINE: Any = [[[0, 100_000], [200_000, 300_000]], [[100_000, 200_000], [300_000, 400_000]]]


def test_the_timeline_has_a_bar_for_each_request_on_one_axis() -> None:
    """Two workers of two requests each, of 0.1 ms."""
    cells = [with_clients(cell, timeline=TIMELINE) for cell in HELD]
    (panel,) = figures_of(contest_run(cells, view="http-clients"))["timeline"].panels
    assert str(panel.title).startswith("http-beast-held, 3.11:")
    spans = [span for curve in panel.curves for span in curve.spans]
    assert [(span.y, span.start, span.end) for span in spans] == [
        (1, 0, 0.1), (1, 0.2, 0.3), (2, 0.1, 0.2), (2, 0.3, 0.4)
    ]  # fmt: skip
    assert panel.across.high == 0.4
