"""How evenly a service's requests are shared by its workers, its connections and its listening sockets. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal

from core.result import CellResult, Run
from reports.rows.series import about, labels, series
from reports.statistics.scaling import jain_index
from reports.words.markdown import escaped, markdown_table
from reports.words.told import Told, texts

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

    label: str
    arm: str
    among: Among
    jain: float
    sharers: int
    cells: tuple[CellResult, ...] = ()


def fairnesses(run: Run) -> list[Fairness]:
    """Of every setting and arm whose services tell who had the requests, by workers, connections and sockets."""
    every = series(run, ())
    found = []
    for one, label in zip(every, labels(every), strict=True):
        for arm in one.arms:
            cells = [cell for cell in one.cells if cell.arm == arm]
            found += [_fairness(label, arm, among, cells) for among in AMONG]
    return [one for one in found if one is not None]


def _fairness(label: str, arm: str, among: Among, cells: Sequence[CellResult]) -> Fairness | None:
    per_block = [[_of_service(service, among) for service in cell.services] for cell in cells]
    known = [[one for one in services if one is not None] for services in per_block]
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
    """jain_index() of connections told as requests -> how many had so many: there may be one for each request."""
    total = sum(requests * count for requests, count in numbers.items())
    squares = sum(requests**2 * count for requests, count in numbers.items())
    return total**2 / (sum(numbers.values()) * squares)


def sentences(run: Run) -> list[str]:
    """One for workers, connections and sockets each, where some row's index is below 0.9: how many, and the lowest."""
    return texts(told(run))


def told(run: Run) -> list[Told]:
    """The sentences, each with the cells of all its rows."""
    found = fairnesses(run)
    by_kind = [[one for one in found if one.among == among] for among in AMONG]
    uneven = [some for some in by_kind if any(one.jain < UNEVEN_BELOW for one in some)]
    return [Told(text=_uneven(some), cells=tuple(cell for one in some for cell in one.cells)) for some in uneven]


def _uneven(some: Sequence[Fairness]) -> str:
    least = min(some, key=lambda one: one.jain)
    count = sum(one.jain < UNEVEN_BELOW for one in some)
    head = f"Requests are shared unevenly among {least.among}"
    rows = f" in {count} of {len(some)} rows" if len(some) > 1 else ""
    worst = f"{'least evenly in' if len(some) > 1 else 'in'} {about(least.label, least.arm).rstrip(': ')}"
    like = f"as if {least.jain * least.sharers:.1f} of {least.sharers} had all of them"
    return f"{head}{rows} (Jain index below {UNEVEN_BELOW}), {worst}: {least.jain:.2f}, {like}."


def markdown(run: Run) -> str:
    """A line for each setting and arm; empty where no service tells who had its requests."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in fairnesses(run):
        found.setdefault((one.label, one.arm), {})[one.among] = f"{one.jain:.3f}"
    if not found:
        return ""
    lines = "\n".join(f"- {escaped(line)}" for line in [*sentences(run), *_notes(run)])
    rows = [[key[0] or "-", key[1], *(indices.get(among, "-") for among in AMONG)] for key, indices in found.items()]
    table = markdown_table(["setting", "runtime", *AMONG], rows, {*AMONG})
    return f"## Fairness: Jain index of requests\n\n{lines}\n\n{table}\n"


def _notes(run: Run) -> list[str]:
    scale = "1 is all alike, 1/n is one of n has everything; mean over the services, median over the blocks."
    lines = [f"{scale} Workers that had nothing to do lower it and do no harm."]
    if not run.plan.get("method", {}).get("duration_s"):
        lines += ["Clients sent a fixed number of requests, so connections could hardly differ; --duration lets them."]
    return lines
