"""What ratios would be had both arms waited alike for cores: a sensitivity analysis, which decides no verdict. Pure."""

from collections.abc import Mapping
from statistics import mean
from typing import Any

from core.result import CellResult
from reports.rows.pairs import Pair
from reports.statistics.stats import FEWEST_FOR_INTERVAL, mean_over_cells
from reports.statistics.verdict import Verdict

Waits = tuple[Mapping[int, float], Mapping[int, float]]


def waits(pair: Pair) -> Waits | None:
    """By block how many threads waited for a core on average, under the denominator and under the numerator.

    None with fewer than 6 blocks, or where a side of a cell does not say.
    """
    sides = [[_waiting(cells) for cells in (one.denominator, one.numerator)] for one in pair.singles]
    before, after = (mean_over_cells(side) for side in zip(*sides, strict=True))
    is_known = not pair.gate and before.keys() == after.keys() == pair.ratios.keys()
    return (before, after) if is_known and len(after) >= FEWEST_FOR_INTERVAL else None


def _waiting(cells: Mapping[int, CellResult]) -> dict[int, float]:
    known = {block: [_waited_ns(side) for side in (cell.services, cell.clients)] for block, cell in cells.items()}
    return {block: sum(sides) / cells[block].wall_ns for block, sides in known.items() if all(sides)}


def _waited_ns(processes: list[dict[str, Any]]) -> int:
    return sum(process.get("run_queue_ns", 0) for process in processes)


def differences(known: Waits) -> dict[int, float]:
    """By block, how many more threads waited under the numerator; empty where one arm waited more in every block.

    That is a difference between the arms, not noise: what the ratio would be without it, nothing measured says.
    """
    before, after = known
    more = {block: after[block] - before[block] for block in after}
    return more if min(more.values()) <= 0 <= max(more.values()) and len({*more.values()}) > 1 else {}


def adjusted(known: Waits, verdict: Verdict | None) -> dict[str, Any]:
    """Mean waits under `denominator` and `numerator`, and {ratio, low, high, verdict} of *verdict*: what would be."""
    would_be = {name: vars(verdict)[name] for name in ("ratio", "low", "high", "verdict")} if verdict else {}
    return {"denominator": mean(known[0].values()), "numerator": mean(known[1].values()), **would_be}
