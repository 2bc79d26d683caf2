"""What a row of the HTTP clients says of its workers, and which timelines are shown."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from experiments.http_clients.topic_workers import bench_ns, lmean_ns, serialisation
from record.run import CellResult
from tests.experiments.http_clients.sample import only_client
from tests.reports.contestants import blocks_of
from tests.reports.sample import MS


def telling(blocks: Sequence[tuple[Sequence[int], int]]) -> list[CellResult]:
    """A cell of held under 3.11 in each block: its workers' loops and its Bench, ms."""
    cells = blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=[MS], blocks=range(1, len(blocks) + 1))
    return [
        replace(cell, clients=[{**cell.clients[0], "workers_ns": [one * MS for one in loops], "bench_ns": bench * MS}])
        for cell, (loops, bench) in zip(cells, blocks, strict=True)
    ]


def test_lmean_and_bench_are_medians_over_the_blocks_and_serialisation_is_the_median_of_their_ratios() -> None:
    """Means of the loops are 2, 4 and 9 ms, Bench is 8, 8 and 18 ms, the ratios are 4, 2 and 2."""
    line = only_client(telling([([1, 2, 3], 8), ([3, 4, 5], 8), ([9, 9, 9], 18)]))
    assert (lmean_ns(line), bench_ns(line)) == (4 * MS, 8 * MS)
    assert serialisation(line).value == pytest.approx(2)
    assert serialisation(line).count == 3


def test_no_interval_goes_below_what_serialisation_can_be() -> None:
    line = only_client(telling([([10], 10), ([10], 11), ([10], 15)]))
    assert (serialisation(line).low, serialisation(line).high) == (1, 1.5)


def test_workers_of_several_clients_count_together_and_bench_is_the_longest() -> None:
    one, other = telling([([2], 3), ([4], 6)])
    line = only_client([replace(one, clients=[*one.clients, *other.clients])])
    assert (lmean_ns(line), bench_ns(line)) == (3 * MS, 6 * MS)
    assert serialisation(line).value == pytest.approx(2)
