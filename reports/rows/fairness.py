"""How evenly a service's requests are shared by its workers, its connections and its listening sockets. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal

from core.messages import Message
from core.result import CellResult, Run
from reports.rows.series import labels, series
from reports.statistics.scaling import jain_index

UNEVEN_BELOW = 0.9

Among = Literal["workers", "connections", "sockets"]
AMONG: tuple[Among, ...] = ("workers", "connections", "sockets")
_KEYS = {"workers": "requests_by_worker", "sockets": "requests_by_socket", "connections": "connections_by_requests"}


@dataclass(frozen=True, kw_only=True)
class Fairness:
    """How evenly one arm's requests were shared. jain: Jain's index, 1 if all have the same, 1/sharers if one has all.

    Of a service with one sharer there is none; of a cell it is the mean over its services, here the median over
    the blocks. sharers: how many a service has. cells: of all blocks.
    """

    label: Message
    arm: str
    among: Among
    jain: float
    sharers: int
    cells: tuple[CellResult, ...] = ()

    @property
    def is_uneven(self) -> bool:
        """Whether it is worth a sentence."""
        return self.jain < UNEVEN_BELOW


def fairnesses(run: Run) -> list[Fairness]:
    """Of every setting and arm whose services tell who had the requests, by workers, connections and sockets."""
    every = series(run, ())
    shared = [
        _fairness(label, arm, among, [cell for cell in each.cells if cell.arm == arm])
        for each, label in zip(every, labels(every), strict=True)
        for arm in each.arms
        for among in AMONG
    ]
    return [fairness for fairness in shared if fairness is not None]


def _fairness(label: Message, arm: str, among: Among, cells: Sequence[CellResult]) -> Fairness | None:
    per_block = [[_of_service(service, among) for service in cell.services] for cell in cells]
    known = [[index for index in services if index is not None] for services in per_block]
    indices = [fmean(jain for jain, _ in services) for services in known if services]
    if not indices:
        return None
    sharers = round(median(count for services in known for _, count in services))
    return Fairness(label=label, arm=arm, among=among, jain=median(indices), sharers=sharers, cells=tuple(cells))


def _of_service(service: Mapping[str, Any], among: Among) -> tuple[float, int] | None:
    """Jain's index of one service, and how many share; None if it does not tell, or has but one, or no request."""
    if not all(name in service for name in _KEYS.values()) or not service["requests"]:
        return None
    if among == "connections":
        numbers = Counter({int(requests): count for requests, count in service[_KEYS[among]].items()})
        return (jain_of_counts(numbers), numbers.total()) if numbers.total() > 1 else None
    shares = service[_KEYS[among]]
    return (jain_index(shares), len(shares)) if len(shares) > 1 else None


def jain_of_counts(numbers: Mapping[int, int]) -> float:
    """jain_index() of connections kept as requests -> how many had so many: there may be one for each request."""
    total = sum(requests * count for requests, count in numbers.items())
    squares = sum(requests**2 * count for requests, count in numbers.items())
    return total**2 / (sum(numbers.values()) * squares)
