"""Garbage collections of the services, and the causes of slow requests, of each setting under each
runtime.

Slow requests are those beyond a percentile of a cell's latencies. CellResult.slow and
ServiceResult.pauses (record/) have the figures. The sections garbage_collections and lost_time of
reports/sections show the results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from analysis.cell_index import Row
from analysis.stats import Estimate, Floats, effect
from record.child_lines import ServiceResult
from record.result_parts import Slow
from record.saved_run import CellResult

PERCENTILES: Mapping[str, str] = {
    "p999": "p99.9",
    "p99": "p99",
}  # a setting uses the first that all of its cells have
LEAST_FINDING = 0.05  # share of the slow requests' time; see SlowShare.is_finding
COLLECTION = "collection"  # the cause garbage collection
# causes whose share of the slow requests' time result.json has
CAUSES = (COLLECTION, "service", "client", "steal")


class SlowShare(NamedTuple):
    """The share of the slow requests' time that one cause explains in each block.

    usual: the share that is expected for requests at random times
    """

    slow: Floats
    usual: Floats

    @property
    def estimate(self) -> Estimate:
        """Return the estimated share, with its interval limited to 0..1."""
        of = effect(self.slow)
        return replace(of, low=max(0.0, of.low), high=min(1.0, of.high)) if isfinite(of.low) else of

    @property
    def excess(self) -> Estimate:
        """Return by how much the cause's share of the slow requests' time exceeds its share of all
        time.
        """
        return effect(self.slow - self.usual)

    @property
    def is_finding(self) -> bool:
        """Return whether the share of the slow requests' time is significantly larger than at
        random times.

        The low end of the excess must reach LEAST_FINDING. Fewer than 6 blocks give a range and no
        finding.
        """
        return not self.excess.is_range and self.excess.low >= LEAST_FINDING


class ArmPauses(NamedTuple):
    """The garbage collections of one setting's services under one runtime, and the causes of slow
    requests.

    per_s: collections of all services per second, median over the blocks
    share: share of a process's time in collections, median over the blocks
    longest_ns: the longest collection of all blocks
    unkept: share of the collections whose times were overwritten
    percentile: slow requests are slower than this percentile; "" if a block of any runtime has no
        slow requests, or does not know them
    shares: by a name of CAUSES; only shares that are known in all blocks
    """

    row: Row
    per_s: float
    share: float
    longest_ns: int
    unkept: float
    percentile: str
    shares: Mapping[str, SlowShare]

    @property
    def findings(self) -> set[str]:
        """Return the names of the causes that significantly delay slow requests."""
        return {name for name, share in self.shares.items() if share.is_finding}


def pauses(rows: Sequence[Row]) -> list[ArmPauses]:
    """Return the garbage collections and slow requests of each result row. *rows* differ only in
    the runtime.

    Cells whose collections are not known are left out, and rows that have only such cells.
    """
    known = [(row, [*filter(_is_known, row.good)]) for row in rows]
    every = [cell for _, cells in known for cell in cells]
    percentile = next(
        (name for name in PERCENTILES if all(map(partial(_has_slow, name), every))), ""
    )
    return [_pauses(row, cells, percentile) for row, cells in known if cells]


def _has_slow(percentile: str, cell: CellResult) -> bool:
    return percentile in cell.slow and bool(cell.slow[percentile].requests)


def _is_known(cell: CellResult) -> bool:
    return bool(cell.wall_ns and cell.services and all(service.pauses for service in cell.services))


def _pauses(row: Row, cells: Sequence[CellResult], percentile: str) -> ArmPauses:
    figures = np.array([[*map(_figures, cell.services)] for cell in cells])
    # Each array is indexed by cell and service.
    collections, spent_ns, processes, longest_ns, unkept = np.moveaxis(figures, -1, 0)
    wall_ns = [cell.wall_ns for cell in cells]
    return ArmPauses(
        row=row,
        per_s=float(np.median(collections.sum(axis=1) * 1e9 / wall_ns)),
        share=float(np.median(spent_ns.sum(axis=1) / wall_ns / processes.sum(axis=1))),
        longest_ns=int(longest_ns.max()),
        unkept=float(unkept.sum() / max(1, collections.sum())),
        percentile=PERCENTILES.get(percentile, ""),
        shares=_shares([cell.slow[percentile] for cell in cells]) if percentile else {},
    )


def _figures(service: ServiceResult) -> list[int]:
    # _pauses() unpacks these figures in the same order
    of = service.pauses
    assert of is not None, "of cells whose collections are known"
    return [sum(of.collections), sum(of.total_ns), of.processes, of.longest_ns, of.unkept]


def _shares(blocks: Sequence[Slow]) -> dict[str, SlowShare]:
    """Return the shares of slow requests by cause, for causes that are known in all blocks.

    blocks: the slow requests of each block, as in result.json
    """
    causes = [slow.causes for slow in blocks]
    shares = {}
    for name in CAUSES:
        of_name = [known.get(name) for known in causes]
        if all(of_name):
            shares[name] = SlowShare(
                *(np.array([*map(attrgetter(key), of_name)]) for key in ("share", "window"))
            )
    return shares
