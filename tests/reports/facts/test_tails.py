"""Percentiles of latency of two arms, compared block by block."""

import pytest

from core.cell import Value
from core.result import CellResult
from reports.facts.comparisons import compare
from tests.reports.sample import MS, cell_of, measured, run_of

SIZE: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 200}


def cell(arm: str, block: int, usual_ns: int, slow_ns: int) -> CellResult:
    """Of every 50 requests one is slow."""
    return measured(cell_of("2", arm, SIZE), block, [1999 * MS], [slow_ns, *[usual_ns] * 49] * 4)


def test_the_median_may_be_better_and_the_tail_worse_where_throughput_is_alike() -> None:
    """Half the median latency and three times the tail, in as much time."""
    cells = [cell("3.11", block, 200_000, 1_000_000) for block in range(1, 9)]
    cells += [cell("3.14", block, 100_000, 3_000_000) for block in range(1, 9)]
    (one,) = compare(run_of(cells, runtimes=["3.11", "3.14"]))
    assert one.verdict == "equivalent"
    assert [one.tails[name]["ratio"] for name in ("p50", "p99")] == pytest.approx([2, 1 / 3], rel=0.01)
    assert [one.tails[name]["verdict"] for name in ("p50", "p99")] == ["faster", "slower"]
