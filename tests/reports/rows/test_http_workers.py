"""What a row of the HTTP clients says of its workers, and which timelines are shown."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.result import CellResult
from reports.rows.http_workers import telling_timelines
from tests.reports.contestants import blocks_of
from tests.reports.http_sample import clients_in, only_client, worked
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
    assert (line.lmean_ns, line.bench_ns) == (4 * MS, 8 * MS)
    assert line.serialisation.value == pytest.approx(2)
    assert line.serialisation.count == 3


def test_no_interval_goes_below_what_serialisation_can_be() -> None:
    line = only_client(telling([([10], 10), ([10], 11), ([10], 15)]))
    assert line.serialisation.low == 1
    assert line.serialisation.high == 1.5


def test_workers_of_several_clients_count_together_and_bench_is_the_longest() -> None:
    (cell,) = blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=[MS], blocks=[1])
    told = [{"workers_ns": [2 * MS], "bench_ns": 3 * MS}, {"workers_ns": [4 * MS], "bench_ns": 6 * MS}]
    line = only_client([replace(cell, clients=[{**cell.clients[0], **one} for one in told])])
    assert (line.lmean_ns, line.bench_ns) == (3 * MS, 6 * MS)
    assert line.serialisation.value == pytest.approx(2)


@pytest.mark.parametrize(
    ("runtimes", "shown"),
    [
        (["3.11", "3.14", "3.14t+gil", "3.14t"], [("held", "3.14"), ("released", "3.14"), ("held", "3.14t")]),
        (["3.13", "3.15", "3.13t", "3.15t"], [("held", "3.15"), ("released", "3.15"), ("held", "3.15t")]),
        (["3.11"], [("held", "3.11"), ("released", "3.11")]),
        (["3.14t"], [("held", "3.14t")]),
        (["3.14t+gil"], []),
    ],
)
def test_timelines_are_chosen_by_the_state_of_the_gil(runtimes: list[str], shown: list[tuple[str, str]]) -> None:
    cells = [worked(f"http-beast-{kind}", runtime, [1], 1) for kind in ("held", "released") for runtime in runtimes]
    told = [[replace(cell, clients=[{**cell.clients[0], "timeline": [[[0, 1]]]}]) for cell in some] for some in cells]
    chosen = telling_timelines(clients_in(*told))
    assert [(client.row.system.removeprefix("http-beast-"), client.runtime) for client in chosen] == shown
