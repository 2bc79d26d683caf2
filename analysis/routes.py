"""Routes: the requests of a user's service by name, with the figures of each and its mean latency.

A route is the requests of a plan that have one name. The place of a route is its index in names()
and in CellResult.routes. analysis/pair_verdicts.py compares the routes of two arms, and
reports/sections/routes.py shows them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from analysis.cell_index import Row
from analysis.metrics import METRICS, Reader
from core.histogram import SparseHistogram
from core.messages import Json
from core.runtime import NATIVE
from record.comparison import VALUE, SavedComparison
from record.saved_run import CellResult, Run

# the mean latency, which a route has even if it has too few requests for percentiles
MEAN = METRICS["mean_ns"]


@dataclass(frozen=True, kw_only=True)
class Route:
    """A route under one runtime, in all blocks.

    share: of the row's answers, 0 to 1
    row: the row of results as if clients had sent only the requests of this route
    """

    name: str
    share: float
    row: Row

    @property
    def requests(self) -> int:
        """The number of its requests in all blocks, also in those that failed."""
        return sum(cell.requests for cell in self.row.cells)

    @property
    def errors(self) -> int:
        """The number of its errors in all blocks, also in those that failed."""
        return sum(sum(cell.errors.values()) for cell in self.row.cells)

    def is_side_of(self, one: SavedComparison, side: int) -> bool:
        """Return whether this is the route of one side of a comparison.

        *side* is 0 for the comparison's denominator and 1 for its numerator.
        """
        row = self.row
        name = row.system if row.runtime == NATIVE else row.runtime  # of a service that already ran
        key = one.settings[side].key if one.step == VALUE else one.key
        arm = (one.denominator, one.numerator)[side]
        return name == arm and (one.between_services or row.key == key)


def names(run: Run) -> tuple[str, ...]:
    """Return the names of the run's routes; () if fewer than two routes were measured."""
    service = run.plan.user_service
    return service.requests.routes if service else ()


def _alone(place: int, cell: CellResult) -> CellResult:
    """Return a cell as if its clients had sent only the requests of the route at *place*."""
    if place < len(cell.routes):
        one = cell.routes[place]
        # the fields of RouteCounts have the names that CellResult gives to the same counts
        counts: Json = {name: getattr(one, name) for name in one.__struct_fields__}
        return replace(cell, **counts)
    # a cell that failed may have no routes
    return replace(cell, requests=0, answered=0, errors={}, latency=SparseHistogram())


def _mean_ns(place: int, cell: CellResult) -> float | None:
    return MEAN.read(_alone(place, cell))


def readers(run: Run) -> dict[str, Reader]:
    """Return the functions that read the mean latency of each route from a cell, by name."""
    return {name: partial(_mean_ns, place) for place, name in enumerate(names(run))}


def routes(rows: Sequence[Row], run: Run) -> list[Route]:
    """Return the routes of each row, in the order of the plan.

    A route without requests, such as a login before the measured requests, is left out if nothing
    failed.
    """
    found = []
    for row in rows:
        answered = sum(cell.answered for cell in row.good) or 1
        for place, name in enumerate(names(run)):
            alone = replace(row, cells=tuple(_alone(place, cell) for cell in row.cells))
            share = sum(cell.answered for cell in alone.good) / answered
            found.append(Route(name=name, share=share, row=alone))
    return [route for route in found if route.requests or route.errors]
