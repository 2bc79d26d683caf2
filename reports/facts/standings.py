"""Different systems at the same work: which one serves most, and what share of that each other one reaches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.cell import Value
from core.messages import NOTHING, Message, listed, message, verbatim
from core.runtime import NATIVE
from reports.facts.arrangement import value_text, varying
from reports.facts.figures import Figures
from reports.facts.summary import Row, request_ns
from reports.facts.traces import of_row
from reports.statistics.stats import Estimate, paired_effect

OWN_CHOICE = "NUM_SERVER_THREADS"  # Netty takes part with one thread and with two


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One contestant: a row, its name, and its share of the reference's requests/s.

    name:    system, own parameters and runtime, as far as contestants differ in them
    figures: of the row
    share:   paired by block, with its 95 % interval; None if no block has both rows
    base:    the reference's row
    ranked:  the rows of all contestants, the one with most requests/s first
    """

    row: Row
    name: Message
    figures: Figures
    share: Estimate | None
    base: Row
    ranked: Sequence[Row]

    @property
    def rate(self) -> float:
        """Return the median of its requests/s over its blocks."""
        return rate(self.row)

    @property
    def cells(self) -> str:
        """Return the groups of its cells."""
        return of_row(self.row)


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Contestants at one setting, the one with most requests/s first. reference: the one whose share is 1.

    setting: the parameters that vary between contests
    about:   what else its contestants have in common and those of other contests have not
    """

    setting: Mapping[str, Value]
    standings: Sequence[Standing]
    reference: Standing
    about: Message = NOTHING

    @property
    def label(self) -> Message:
        """Return the setting, or nothing if there is only one."""
        return self.label_without("")

    def label_without(self, parameter: str) -> Message:
        """Return the setting except for one parameter."""
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
    """Return a contest for each value of the parameters that all rows with figures have and that vary.

    reference:  the system that shares refer to; without it, the fastest of each contest
    by_runtime: whether each runtime has contests of its own; otherwise runtimes are contestants
    """
    measured = [row for row in rows if row.figures]
    names = [name for name in varying(measured) if _is_setting(name, measured)]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in measured:
        runtime = row.runtime if by_runtime else ""
        groups.setdefault((runtime, *(value_text(row.params[name]) for name in names)), []).append(row)
    made = []
    for (runtime, *_), group in groups.items():
        ranked = sorted(group, key=rate, reverse=True)
        base = next((row for row in ranked if row.system == reference), ranked[0])
        standings = [
            Standing(
                row=row,
                name=_name(row, group, titles, by_runtime),
                figures=row.figures or {},
                share=rate_share(row, base),
                base=base,
                ranked=ranked,
            )
            for row in ranked
        ]
        made.append(
            Contest(
                setting={name: base.params[name] for name in names},
                standings=standings,
                reference=standings[ranked.index(base)],
                about=message("runtime {runtime}", runtime=runtime) if by_runtime else about,
            )
        )
    return made


def _is_setting(name: str, rows: Sequence[Row]) -> bool:
    """Return whether all rows have a parameter, and it is not one system's own choice."""
    systems = {row.system for row in rows}
    choosing = [system for system in systems if name in varying(row for row in rows if row.system == system)]
    is_own_choice = name == OWN_CHOICE and len(choosing) == 1 and len(systems) > 1
    return all(name in row.params for row in rows) and not is_own_choice


def _name(row: Row, group: Sequence[Row], titles: Mapping[str, str], by_runtime: bool) -> Message:
    """Return the system's title, the parameters that its own rows differ in, and the runtime of Python code."""
    twins = [other for other in group if other.system == row.system and other.runtime == row.runtime]
    values = [f"{name} {value_text(row.params[name])}" for name in varying(twins)]
    runtime = [] if by_runtime or row.runtime == NATIVE else [row.runtime]
    return listed([titled(row.system, titles), *values, *runtime])


def titled(system: str, titles: Mapping[str, str]) -> Message:
    """Return what a system is, or its name if *titles* do not say."""
    return Message(msgid=titles[system]) if system in titles else verbatim(system)


def rate(row: Row) -> float:
    """Return the requests/s of a row, 0 if it has no figures."""
    return row.figures["requests_per_s"] if row.figures else 0.0


def rate_share(row: Row, base: Row) -> Estimate | None:
    """Return the requests/s of *row* over those of *base*, paired by block; None if no block has both."""
    logarithm = paired_effect(request_ns(base.good), request_ns(row.good))
    return logarithm.ratio if logarithm else None
