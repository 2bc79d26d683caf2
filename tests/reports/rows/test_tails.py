"""Percentiles of latency of two arms, compared block by block."""

import pytest

from core.cell import Value
from core.result import CellResult
from reports.rows.comparisons import compare
from tests.reports.sample import MS, cell_of, measured, run_of

SIZE: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 200}


def cell(arm: str, block: int, usual_ns: int, slow_ns: int, requests: int = 200) -> CellResult:
    """Of every 50 requests one is slow."""
    latencies = [slow_ns if number % 50 == 0 else usual_ns for number in range(requests)]
    return measured(cell_of("2", arm, SIZE), block, [1999 * MS], latencies)


def tails(requests: int = 200) -> dict[str, dict[str, float | str]]:
    """Half the median latency and three times the tail, in as much time."""
    cells = [cell("3.11", block, 200_000, 1_000_000, requests) for block in range(1, 9)]
    cells += [cell("3.14", block, 100_000, 3_000_000, requests) for block in range(1, 9)]
    (one,) = compare(run_of(cells, runtimes=["3.11", "3.14"]))
    assert one.verdict == "equivalent"
    return one.tails


def test_the_median_may_be_better_and_the_tail_worse_where_throughput_is_alike() -> None:
    found = tails()
    assert found["p50"]["ratio"] == pytest.approx(2, rel=0.01)
    assert found["p99"]["ratio"] == pytest.approx(1 / 3, rel=0.01)
    assert [found[name]["verdict"] for name in ("p50", "p99")] == ["faster", "slower"]
