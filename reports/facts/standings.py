"""Different systems at the same work: who serves most, and what share of that each other one reaches. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from core.cell import Value
from core.messages import NOTHING, Message, listed, message, verbatim
from core.result import CellResult
from core.runtime import NATIVE
from reports.facts.cells import Row, request_ns
from reports.facts.figures import cpu_ns
from reports.facts.settings import value_text
from reports.statistics.stats import Estimate, paired_effect

OWN_CHOICES = ("NUM_SERVER_THREADS",)  # Netty takes part with one thread and with two


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One contestant: a row, what tells it from its neighbours, and its share of the reference's requests/s.

    name: system, own parameters and runtime, as far as they differ between contestants
    share: of the blocks that both have, with its 95 % interval; None where no block has both
    base: the reference's row; ranked: the rows of all contestants, the one with most requests/s first
    """

    row: Row
    name: Message
    share: Estimate | None
    base: Row
    ranked: tuple[Row, ...]

    @property
    def requests_per_s(self) -> float:
        """Median over its blocks."""
        return self.row.figures["requests_per_s"] if self.row.figures else 0.0


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Contestants at one setting, the one with most requests/s first. reference: whose share is 1.

    setting: the parameters that vary; about: what else they have in common, where that is not everything
    """

    setting: Mapping[str, Value]
    standings: tuple[Standing, ...]
    reference: Standing
    about: Message = NOTHING

    @property
    def label(self) -> Message:
        """The setting; nothing where there is only one."""
        return self.label_without("")

    def label_without(self, parameter: str) -> Message:
        """The setting but for one parameter."""
        values = [f"{name} {value_text(value)}" for name, value in self.setting.items() if name != parameter]
        return listed([*([self.about] if self.about else []), *values])


def contests(
    rows: Sequence[Row],
    titles: Mapping[str, str],
    *,
    reference: str = "",
    by_runtime: bool = False,
    about: Message = NOTHING,
) -> list[Contest]:
    """The rows with figures, by the parameters that all of them read and that vary.

    reference: the system that shares refer to; without it, each setting's fastest
    by_runtime: whether runtimes are settings too, or contestants
    """
    measured = [row for row in rows if row.figures]
    common = _common_and_varying(measured)
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in measured:
        runtime = row.runtime if by_runtime else ""
        groups.setdefault((runtime, *(value_text(row.params[name]) for name in common)), []).append(row)
    return [
        _contest(
            group,
            {name: group[0].params[name] for name in common},
            titles,
            reference,
            message("runtime {runtime}", runtime=key[0]) if by_runtime else about,
            by_runtime,
        )
        for key, group in groups.items()
    ]


def _common_and_varying(rows: Sequence[Row]) -> list[str]:
    names = [name for name in (rows[0].params if rows else {}) if all(name in row.params for row in rows)]
    return [name for name in names if _is_setting(name, rows)]


def _is_setting(name: str, rows: Sequence[Row]) -> bool:
    """Whether contestants are apart where it differs: not if it is one contestant's own choice."""
    values: dict[str, set[str]] = {}
    for row in rows:
        values.setdefault(row.system, set()).add(value_text(row.params[name]))
    choosing = [texts for texts in values.values() if len(texts) > 1]
    is_own = name in OWN_CHOICES and len(choosing) == 1 and len(values) > 1
    return len(set().union(*values.values())) > 1 and not is_own


def _contest(
    group: Sequence[Row],
    setting: Mapping[str, Value],
    titles: Mapping[str, str],
    reference: str,
    about: Message,
    by_runtime: bool,
) -> Contest:
    ranked = tuple(sorted(group, key=_rate, reverse=True))
    base = next((row for row in ranked if row.system == reference), ranked[0])
    standings = tuple(
        Standing(
            row=row,
            name=_name(row, group, titles, by_runtime),
            share=rate_share(row, base),
            base=base,
            ranked=ranked,
        )
        for row in ranked
    )
    return Contest(setting=setting, standings=standings, reference=standings[ranked.index(base)], about=about)


def _rate(row: Row) -> float:
    return row.figures["requests_per_s"] if row.figures else 0.0


def _name(row: Row, group: Sequence[Row], titles: Mapping[str, str], by_runtime: bool) -> Message:
    """The system's title; what its own rows differ in; the runtime where Python code is measured."""
    twins = [other for other in group if other.system == row.system and other.runtime == row.runtime]
    own = [name for name in row.params if len({value_text(other.params[name]) for other in twins}) > 1]
    runtime = [] if by_runtime or row.runtime == NATIVE else [row.runtime]
    values = (f"{name} {value_text(row.params[name])}" for name in own)
    return listed([titled(row.system, titles), *values, *runtime])


def titled(system: str, titles: Mapping[str, str]) -> Message:
    """What a system is, or its name where nobody says."""
    return Message(msgid=titles[system]) if system in titles else verbatim(system)


def rate_share(row: Row, base: Row) -> Estimate | None:
    """Requests/s of *row* over those of *base*, paired by block; None where no block has both."""
    return _ratio(request_ns(row.good), request_ns(base.good))


def client_cpu_share(row: Row, base: Row) -> Estimate | None:
    """Client CPU time per request of *row* over that of *base*, paired by block; None where no block has both."""
    return _ratio(_client_cpu_ns(base), _client_cpu_ns(row))


def _ratio(denominator_ns: Mapping[int, float], numerator_ns: Mapping[int, float]) -> Estimate | None:
    """Time of the second over that of the first, of the blocks that both have, with its 95 % interval."""
    logarithm = paired_effect(numerator_ns, denominator_ns)
    return logarithm.ratio if logarithm else None


def _client_cpu_ns(row: Row) -> dict[int, float]:
    """Client CPU time of a request in each block that is ok and tells it."""
    answering = [cell for cell in row.good if cell.answered]
    return {cell.block: spent / cell.answered for cell in answering if (spent := cpu_ns(cell.clients))}


def mean_latency_ns(cells: Sequence[CellResult]) -> float | None:
    """Median over the blocks of the mean latency."""
    means = [cell.latency["mean_ns"] for cell in cells if cell.latency.get("count")]
    return median(means) if means else None
