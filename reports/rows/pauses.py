"""Garbage collections of services, and the slow requests that they held up: of each row, and between arms. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import median

from core.result import CellResult
from reports.rows.comparisons import Comparison
from reports.rows.summary import Row, setting_key
from reports.statistics.stats import Estimate, effect

PERCENTILES: Mapping[str, str] = {"p999": "p99.9", "p99": "p99"}  # the first that all cells of a setting have
LEAST_HELD_UP = 0.05  # of the slow requests: fewer are worth no sentence


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Of one row's requests slower than *percentile*: shares, medians over the blocks.

    overlapping: during which their service collected; by_chance: which would be at other times
    excess: overlapping beyond chance; held_up: which spent at least half of their time under collections
    """

    percentile: str
    overlapping: float
    by_chance: float
    excess: Estimate
    held_up: Estimate


@dataclass(frozen=True, kw_only=True)
class Pauses:
    """The collections of one row's services in the timed window; per_s and share are medians over the blocks.

    per_s: of all services together; share: of the time of a process, mean over the processes; longest_ns: of all blocks
    processes: how many a service had at most
    unkept: share of the collections whose times are not known, so that slow requests may overlap more of them
    waiting: how many threads of all services were ready to run without a core, on average; None where it is not known
    slow: None where not every slow request of every block is known
    """

    row: Row
    per_s: float
    share: float
    longest_ns: int
    processes: int
    unkept: float
    waiting: float | None
    slow: Slow | None

    @property
    def is_finding(self) -> bool:
        """Whether collections held up so many slow requests that it matters.

        Of a service with one process a collection stops all threads. Of one with several it may be another's: there
        they must overlap more often than by chance, too.
        """
        if self.slow is None or self.slow.held_up.low < LEAST_HELD_UP:
            return False
        return self.processes == 1 or self.slow.excess.low > 0


def pauses(rows: Sequence[Row]) -> list[Pauses]:
    """Of each of *rows*, which differ in the arm alone, whose services' collections are known."""
    percentile = next((name for name in PERCENTILES if all(map(_has(name), rows))), "")
    return [_pauses(row, cells, percentile) for row in rows if (cells := _known(row))]


def held_up_between(comparison: Comparison, rows: Sequence[Pauses]) -> Estimate | None:
    """By how much the share of slow requests that were held up grew from one arm to the other, over the blocks.

    None where one arm has none of them, or the percentiles differ.
    """
    setting = setting_key(comparison.system, comparison.params)
    arms = {
        each.row.runtime: (each, {cell.block: cell for cell in _known(each.row)})
        for each in rows
        if setting_key(each.row.system, each.row.params) == setting and each.slow
    }
    if not {comparison.denominator, comparison.numerator} <= arms.keys():
        return None
    (before, earlier), (_, later) = (arms[name] for name in (comparison.denominator, comparison.numerator))
    assert before.slow
    share = _share("mostly", before.slow.percentile)
    differences = [share(later[block]) - share(earlier[block]) for block in sorted(earlier.keys() & later.keys())]
    return effect(differences) if differences else None


def _known(row: Row) -> list[CellResult]:
    """Its cells that are ok and whose services' collections are all known."""
    return [
        cell
        for cell in row.good
        if cell.wall_ns and cell.services and all("pauses" in service for service in cell.services)
    ]


def _has(percentile: str) -> Callable[[Row], bool]:
    return lambda row: all(cell.slow.get(percentile, {}).get("requests") for cell in _known(row))


def _share(key: str, percentile: str) -> Callable[[CellResult], float]:
    """Reads of a cell the share of its slow requests that are counted under *key*."""
    return lambda cell: cell.slow[percentile][key] / cell.slow[percentile]["requests"]


def _pauses(row: Row, cells: Sequence[CellResult], percentile: str) -> Pauses:
    services = [service["pauses"] for cell in cells for service in cell.services]
    collections = sum(sum(each["collections"]) for each in services)
    return Pauses(
        row=row,
        per_s=median(_sum(cell, "collections") * 1e9 / cell.wall_ns for cell in cells),
        share=median(_sum(cell, "total_ns") / cell.wall_ns / _processes(cell) for cell in cells),
        longest_ns=max(each["longest_ns"] for each in services),
        processes=max(each["processes"] for each in services),
        unkept=sum(each["unkept"] for each in services) / max(1, collections),
        waiting=_waiting(cells),
        slow=_slow(cells, percentile) if percentile else None,
    )


def _sum(cell: CellResult, key: str) -> int:
    return sum(sum(service["pauses"][key]) for service in cell.services)


def _processes(cell: CellResult) -> int:
    return sum(service["pauses"]["processes"] for service in cell.services)


def _waiting(cells: Sequence[CellResult]) -> float | None:
    if any("run_queue_ns" not in service for cell in cells for service in cell.services):
        return None
    waiting_ns = ((sum(int(service["run_queue_ns"]) for service in cell.services), cell.wall_ns) for cell in cells)
    return median(total_ns / wall_ns for total_ns, wall_ns in waiting_ns)


def _slow(cells: Sequence[CellResult], percentile: str) -> Slow:
    overlapping, by_chance, held_up = (
        [_share(key, percentile)(cell) for cell in cells] for key in ("overlapping", "by_chance", "mostly")
    )
    return Slow(
        percentile=PERCENTILES[percentile],
        overlapping=median(overlapping),
        by_chance=median(by_chance),
        excess=effect([actual - chance for actual, chance in zip(overlapping, by_chance, strict=True)]),
        held_up=_within_bounds(effect(held_up)),
    )


def _within_bounds(share: Estimate) -> Estimate:
    """The interval of a share ends where shares do."""
    return replace(share, low=max(0.0, share.low), high=min(1.0, share.high)) if isfinite(share.low) else share
