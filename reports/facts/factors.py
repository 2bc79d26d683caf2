"""What the ratio of a step is made of: how many cores were in use, and how much CPU time a request took. Pure."""

from collections.abc import Callable, Mapping, Sequence
from math import exp, isfinite, log
from typing import Any

from core.result import CellResult
from reports.facts.figures import cpu_ns
from reports.facts.pairs import Pair
from reports.statistics.stats import effect, mean_over_cells

Sides = Sequence[Sequence[Mapping[str, Any]]]
SIDES: Mapping[str, Callable[[CellResult], Sides]] = {
    "both": lambda cell: [cell.services, cell.clients],
    "service": lambda cell: [cell.services],
    "client": lambda cell: [cell.clients],
}


def factors(pair: Pair) -> dict[str, Any]:
    """Two factors of both sides together, which multiply to the ratio, and of `service` and `client` apart.

    cores_used: ratio of the cores in use. cpu_per_request: of CPU time per request, inverted: above 1 it takes less.
    Each is {ratio, low, high}. Empty where a cell does not report its CPU time.
    """
    made = {side: _of_side(pair, side) for side in SIDES}
    return {**made.pop("both"), **made} if all(made.values()) else {}


def _of_side(pair: Pair, side: str) -> dict[str, dict[str, float | None]]:
    logs = [_logs(single, side) for single in pair.singles]
    cores = mean_over_cells([cores for cores, _ in logs])
    cpu = mean_over_cells([cpu for _, cpu in logs])
    if not cores or cores.keys() != pair.ratios.keys():
        return {}
    seen = {"cores_used": effect([*cores.values()]), "cpu_per_request": effect([*cpu.values()])}
    rest = effect([*pair.ratios.values()]).value - sum(estimate.value for estimate in seen.values())
    return {
        name: _json(estimate.value + rest / 2, estimate.low, estimate.high)  # estimates do not add up: each takes half
        for name, estimate in seen.items()
    }


def _logs(pair: Pair, side: str) -> tuple[dict[int, float], dict[int, float]]:
    """Log-ratios of cores used, and of CPU time per request (inverted), of the blocks that both arms have."""
    cores, cpu = {}, {}
    for block, ratio in pair.ratios.items():
        before, after = (_cpu_ns(cells[block], side) for cells in (pair.denominator, pair.numerator))
        if before and after:
            cpu[block] = log(before / pair.denominator[block].answered * pair.numerator[block].answered / after)
            cores[block] = ratio - cpu[block]
    return cores, cpu


def _cpu_ns(cell: CellResult, side: str) -> int:
    """CPU time of a side of a cell; 0 where it is not known."""
    spent = [cpu_ns(processes) for processes in SIDES[side](cell)]
    return sum(ns or 0 for ns in spent) if all(spent) else 0


def _json(value: float, low: float, high: float) -> dict[str, float | None]:
    """Of logs; the interval holds its value."""
    if not isfinite(high - low):
        return {"ratio": exp(value), "low": None, "high": None}
    return {"ratio": exp(value), "low": exp(min(low, value)), "high": exp(max(high, value))}
