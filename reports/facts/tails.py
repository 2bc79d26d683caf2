"""Percentiles of latency, compared like throughput: block by block, with an interval and a verdict. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.messages import Message
from core.result import CellResult
from reports.facts.pairs import Pair
from reports.statistics.stats import log_ratios, mean_over_cells
from reports.statistics.verdict import judge_family

PERCENTILES: Mapping[str, str] = {"p50": "p50_ns", "p99": "p99_ns", "p999": "p999_ns"}


def tails(pairs: Sequence[Pair], *, margin: float, anytime: bool, seed: int) -> list[dict[str, Any]]:
    """For each pair {percentile: {ratio, low, high, p, verdict}}, all of them one family. ratio above 1: less latency.

    Those are missing that the cells have too few requests for: 10,000 in each cell for p999.
    """
    ratios = {
        (place, name): logs
        for place, pair in enumerate(pairs)
        for name, key in PERCENTILES.items()
        if not pair.gate and (logs := mean_over_cells(_ratios(single, key) for single in pair.singles))
    }
    verdicts = judge_family(ratios, margin=margin, anytime=anytime, seed=seed)
    return [
        {name: _json(vars(verdicts[place, name])) for name in PERCENTILES if (place, name) in verdicts}
        for place in range(len(pairs))
    ]


def _ratios(pair: Pair, key: str) -> dict[int, float]:
    below, above = (_percentiles(cells, key) for cells in (pair.denominator, pair.numerator))
    return log_ratios(below, above)


def _percentiles(cells: Mapping[int, CellResult], key: str) -> dict[int, float]:
    known: dict[int, Any] = {block: cell.latency.get(key) for block, cell in cells.items() if cell.status == "ok"}
    return {block: value for block, value in known.items() if value}


def _json(verdict: Mapping[str, float | str | Message | None]) -> dict[str, Any]:
    return {name: verdict[name] for name in ("ratio", "low", "high", "p", "verdict")}
