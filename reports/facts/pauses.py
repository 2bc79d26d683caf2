"""Garbage collections of services, and what slow requests wait for in time: of each row, and between arms. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import median
from typing import Literal

from core.result import CellResult
from reports.facts.cells import Row, setting_key
from reports.facts.comparisons import Comparison
from reports.statistics.stats import Estimate, effect

PERCENTILES: Mapping[str, str] = {"p999": "p99.9", "p99": "p99"}  # the first that all cells of a setting have
LEAST_HELD_UP = 0.05  # of the slow requests, or of their time: less is worth no sentence
CAUSES = ("collection", "service", "client", "steal")  # collections; threads ready without a core, whose; the host
WITHOUT_A_CORE = CAUSES[1:]


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What took *share* of the time of slow requests. window: of all time, median over the blocks

    excess: share less window
    """

    share: Estimate
    window: float
    excess: Estimate

    @property
    def is_finding(self) -> bool:
        """Whether it took so much more of their time than of any other."""
        return not self.excess.is_range and self.excess.low >= LEAST_HELD_UP


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Of one row's requests slower than *percentile* (*key* in result.json): shares, medians over the blocks.

    overlapping: during which their service collected; by_chance: which would be at other times
    excess: overlapping beyond chance; held_up: which spent at least half of their time under collections
    causes: of CAUSES, those that are known in all blocks
    """

    key: str
    percentile: str
    overlapping: float
    by_chance: float
    excess: Estimate
    held_up: Estimate
    causes: Mapping[str, Cause]


@dataclass(frozen=True, kw_only=True)
class Pauses:
    """The collections of one row's services in the timed window; per_s and share are medians over the blocks.

    per_s: of all services together; share: of the time of a process, mean over the processes; longest_ns: of all blocks
    processes: how many a service had at most
    unkept: share of the collections whose times are not known, so that slow requests may overlap more of them
    slow: None where not every slow request of every block is known
    """

    row: Row
    per_s: float
    share: float
    longest_ns: int
    processes: int
    unkept: float
    slow: Slow | None

    @property
    def is_finding(self) -> bool:
        """Whether collections held up so many slow requests that it matters.

        Of a service with one process a collection stops all threads. Of one with several it may be another's: there
        they must overlap more often than by chance, too. Of fewer than 6 blocks there is a range and no claim.
        """
        if self.slow is None or self.slow.held_up.is_range or self.slow.held_up.low < LEAST_HELD_UP:
            return False
        return self.processes == 1 or self.slow.excess.low > 0

    @property
    def lacks_cores(self) -> bool:
        """Whether slow requests waited for a core, or the host, more than at any time."""
        causes = self.slow.causes if self.slow else {}
        return any(causes[name].is_finding for name in WITHOUT_A_CORE if name in causes)


def pauses(rows: Sequence[Row]) -> list[Pauses]:
    """Of each of *rows*, which differ in the arm alone, whose services' collections are known."""
    percentile = next((name for name in PERCENTILES if all(map(_has(name), rows))), "")
    return [_pauses(row, cells, percentile) for row in rows if (cells := _known(row))]


Share = Callable[[CellResult], float]


def held_up(slow: Slow) -> Share:
    """Reads of a cell the share of its slow requests that were held up by collections."""
    return _share("mostly", slow.key)


def taken_by(cause: str) -> Callable[[Slow], Share]:
    """Reads of a cell the share of its slow requests' time that *cause* took."""
    return lambda slow: lambda cell: float(cell.slow[slow.key]["causes"][cause]["share"])


def change(comparison: Comparison, rows: Sequence[Pauses], share_of: Callable[[Slow], Share]) -> Estimate | None:
    """By how much a share of slow requests grew from one arm to the other, over the blocks.

    None where one arm has none of them, or the percentiles differ.
    """
    setting = setting_key(comparison.system, comparison.params)
    arms = {
        each.row.runtime: (share_of(each.slow), {cell.block: cell for cell in _known(each.row)})
        for each in rows
        if setting_key(each.row.system, each.row.params) == setting and each.slow
    }
    if not {comparison.denominator, comparison.numerator} <= arms.keys():
        return None
    (share, earlier), (_, later) = (arms[name] for name in (comparison.denominator, comparison.numerator))
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
    return lambda row: all(percentile in cell.slow and cell.slow[percentile]["requests"] for cell in _known(row))


def _share(key: Literal["overlapping", "by_chance", "mostly"], percentile: str) -> Share:
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
        slow=_slow(cells, percentile) if percentile else None,
    )


def _sum(cell: CellResult, key: Literal["collections", "total_ns"]) -> int:
    return sum(sum(service["pauses"][key]) for service in cell.services)


def _processes(cell: CellResult) -> int:
    return sum(service["pauses"]["processes"] for service in cell.services)


def _slow(cells: Sequence[CellResult], percentile: str) -> Slow:
    overlapping = [_share("overlapping", percentile)(cell) for cell in cells]
    by_chance = [_share("by_chance", percentile)(cell) for cell in cells]
    held_up = [_share("mostly", percentile)(cell) for cell in cells]
    return Slow(
        key=percentile,
        percentile=PERCENTILES[percentile],
        overlapping=median(overlapping),
        by_chance=median(by_chance),
        excess=effect([actual - chance for actual, chance in zip(overlapping, by_chance, strict=True)]),
        held_up=_within_bounds(effect(held_up)),
        causes={cause: known for cause in CAUSES if (known := _cause(cells, percentile, cause))},
    )


def _cause(cells: Sequence[CellResult], percentile: str, cause: str) -> Cause | None:
    known = [of_one[cause] for cell in cells if cause in (of_one := cell.slow[percentile].get("causes", {}))]
    if len(known) < len(cells):
        return None
    return Cause(
        share=_within_bounds(effect([of_one["share"] for of_one in known])),
        window=median(of_one["window"] for of_one in known),
        excess=effect([of_one["share"] - of_one["window"] for of_one in known]),
    )


def _within_bounds(share: Estimate) -> Estimate:
    """The interval of a share ends where shares do."""
    return replace(share, low=max(0.0, share.low), high=min(1.0, share.high)) if isfinite(share.low) else share
