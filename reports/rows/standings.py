"""Different systems at the same work: who serves most, and what share of that each other one reaches. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite
from statistics import median

from core.cell import Value
from core.result import CellResult
from reports.rows.arrangement import value_text
from reports.rows.summary import Row, cpu_ns
from reports.statistics.stats import Estimate, effect, log_ratios

PER_REQUESTS = 1000
OWN_CHOICES = ("NUM_SERVER_THREADS",)  # Netty takes part with one thread and with two


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One contestant: a row, what tells it from its neighbours, and its share of the reference's requests/s.

    name: system, own parameters and runtime, as far as they differ between contestants
    share: median over the blocks that both have, with its 95 % interval; None where no block has both
    """

    row: Row
    name: str
    share: Estimate | None

    @property
    def requests_per_s(self) -> float:
        """Median over its blocks."""
        return self.row.figures.requests_per_s if self.row.figures else 0.0


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Contestants at one setting, the one with most requests/s first. reference: whose share is 1."""

    setting: Mapping[str, Value]
    standings: tuple[Standing, ...]
    reference: Standing

    @property
    def label(self) -> str:
        """The setting in words; empty where there is only one."""
        return ", ".join(f"{name} {value_text(value)}" for name, value in self.setting.items())


@dataclass(frozen=True, kw_only=True)
class Short:
    """A table that fits a terminal: the first column is the contestant's name. rows: where each line is from."""

    title: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    rows: tuple[Row, ...] = ()


def contests(
    rows: Sequence[Row], titles: Mapping[str, str], *, reference: str = "", by_runtime: bool = False
) -> list[Contest]:
    """The rows with figures, by the parameters that all of them read and that vary.

    reference: the system that shares refer to; without it, each setting's fastest
    by_runtime: whether runtimes are settings too, or contestants
    """
    measured = [row for row in rows if row.figures]
    common = _common_and_varying(measured)
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in measured:
        runtime = [row.runtime] if by_runtime else []
        found.setdefault((*runtime, *(value_text(row.params[name]) for name in common)), []).append(row)
    return [_contest(group, common, titles, reference, by_runtime) for group in found.values()]


def _common_and_varying(rows: Sequence[Row]) -> list[str]:
    names = [name for name in (rows[0].params if rows else {}) if all(name in row.params for row in rows)]
    return [name for name in names if _is_setting(name, rows)]


def _is_setting(name: str, rows: Sequence[Row]) -> bool:
    """Whether contestants are apart where it differs: not if it is one contestant's own choice."""
    values: dict[str, set[str]] = {}
    for row in rows:
        values.setdefault(row.system, set()).add(value_text(row.params[name]))
    choosing = [one for one in values.values() if len(one) > 1]
    own = name in OWN_CHOICES and len(choosing) == 1 and len(values) > 1
    return len(set().union(*values.values())) > 1 and not own


def _contest(
    group: Sequence[Row], common: Sequence[str], titles: Mapping[str, str], reference: str, by_runtime: bool
) -> Contest:
    ordered = sorted(group, key=_rate, reverse=True)
    base = next((row for row in ordered if row.system == reference), ordered[0])
    setting = {name: base.params[name] for name in common}
    standings = tuple(
        Standing(row=row, name=_name(row, group, titles, by_runtime), share=rate_share(row, base)) for row in ordered
    )
    return Contest(
        setting={"runtime": base.runtime, **setting} if by_runtime else setting,
        standings=standings,
        reference=standings[ordered.index(base)],
    )


def _rate(row: Row) -> float:
    return row.figures.requests_per_s if row.figures else 0.0


def _name(row: Row, group: Sequence[Row], titles: Mapping[str, str], by_runtime: bool) -> str:
    """The system's title; what its own rows differ in; the runtime where Python code is measured."""
    twins = [other for other in group if other.system == row.system and other.runtime == row.runtime]
    own = [name for name in row.params if len({value_text(other.params[name]) for other in twins}) > 1]
    parts = [titles.get(row.system, row.system), *(f"{name} {value_text(row.params[name])}" for name in own)]
    return ", ".join(parts if by_runtime or row.runtime == "native" else [*parts, row.runtime])


def rate_share(row: Row, base: Row) -> Estimate | None:
    """Requests/s of *row* over those of *base*, paired by block; None where no block has both."""
    return _ratio(_times_ns(row), _times_ns(base))


def client_cpu_share(row: Row, base: Row) -> Estimate | None:
    """Client CPU time per request of *row* over that of *base*, paired by block; None where no block has both."""
    return _ratio(_client_cpu_ns(base), _client_cpu_ns(row))


def _ratio(denominator_ns: Mapping[int, int], numerator_ns: Mapping[int, int]) -> Estimate | None:
    """Time of the second over that of the first, median over the blocks that both have, with its 95 % interval."""
    ratios = log_ratios(numerator_ns, denominator_ns)
    if not ratios:
        return None
    found = effect([*ratios.values()])
    low, high = (exp(end) if isfinite(end) else end for end in (found.low, found.high))
    return Estimate(value=exp(found.value), low=max(0.0, low), high=high, count=found.count)


def _times_ns(row: Row) -> dict[int, int]:
    """Time of 1000 requests in each block that is ok."""
    return {cell.block: cell.wall_ns * PER_REQUESTS // cell.answered for cell in row.good if cell.answered}


def _client_cpu_ns(row: Row) -> dict[int, int]:
    """Client CPU time of 1000 requests in each block that is ok and tells it."""
    answering = [cell for cell in row.good if cell.answered]
    spent_ns = {cell.block: (cpu_ns(cell.clients) or 0) * PER_REQUESTS // cell.answered for cell in answering}
    return {block: time_ns for block, time_ns in spent_ns.items() if time_ns}


def share_text(share: Estimate | None) -> str:
    """0.87 [0.85, 0.90]; without an interval where there are too few blocks."""
    if share is None:
        return "-"
    ends = f" [{share.low:.2f}, {share.high:.2f}]" if isfinite(share.high) else ""
    return f"{share.value:.2f}{ends}"


def mean_latency_ns(cells: Sequence[CellResult]) -> float | None:
    """Median over the blocks of the mean latency."""
    means = [cell.latency["mean_ns"] for cell in cells if cell.latency.get("count")]
    return median(means) if means else None
