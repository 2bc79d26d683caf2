"""Different systems at the same work: which one serves most, and what share of that each other one reaches."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from core.cell import Value
from core.messages import NOTHING, Message, listed, verbatim
from core.runtime import NATIVE
from reports.facts.cells import Row, grouped, request_ns
from reports.facts.settings import value_text, varying
from reports.facts.traces import of_row
from reports.statistics.stats import Estimate, paired_effect

OWN_CHOICE = "NUM_SERVER_THREADS"  # Netty takes part with one thread and with two


@dataclass(frozen=True)
class Standing:
    """One contestant: a row and its name.

    name:   system, own parameters and runtime, as far as contestants differ in them
    base:   the row of the contestant that shares refer to
    ranked: the rows of all contestants, the one with most requests/s first
    """

    row: Row
    name: Message
    base: Row
    ranked: Sequence[Row]

    @property
    def rate(self) -> float:
        """Return the median of its requests/s over its blocks."""
        return rate(self.row)

    @property
    def share(self) -> Estimate | None:
        """Return its share of the requests/s of the base."""
        return rate_share(self.row, self.base)

    @property
    def cells(self) -> str:
        """Return the groups of its cells."""
        return of_row(self.row)


@dataclass(frozen=True)
class Contest:
    """Contestants at one setting, the one with most requests/s first.

    setting: the parameters that vary between contests
    about:   what else its contestants have in common and those of other contests have not
    """

    setting: Mapping[str, Value]
    standings: Sequence[Standing]
    about: Message

    @property
    def label(self) -> Message:
        """Return the setting, or nothing if there is only one."""
        return self.label_without("")

    @property
    def reference(self) -> Standing:
        """Return the contestant that shares refer to."""
        return next(standing for standing in self.standings if standing.row is standing.base)

    def label_without(self, parameter: str) -> Message:
        """Return the setting except for one parameter."""
        values = [f"{name} {value_text(value)}" for name, value in self.setting.items() if name != parameter]
        return listed([*([self.about] if self.about else []), *values])


def contests(
    rows: Sequence[Row],
    titles: Mapping[str, str],
    *,
    reference: Container[str] = (),
    kind: Callable[[Row], Message] = lambda row: NOTHING,
) -> list[Contest]:
    """Return a contest for each value of the parameters that all rows of a kind have, and that vary among them.

    rows:      those without figures take no part
    reference: systems, the fastest of which is what shares refer to; without any, the fastest of all
    kind:      what a row has in common with those that it is ranked among; without it, all rows are of one kind
    """
    measured = [row for row in rows if row.figures]
    names = {about: _setting_names(alike) for about, alike in grouped(measured, kind).items()}
    groups = grouped(measured, lambda row: (kind(row), *(row.params[name] for name in names[kind(row)])))
    made = []
    for (about, *_), group in groups.items():
        assert isinstance(about, Message)
        ranked = sorted(group, key=rate, reverse=True)
        base = next((row for row in ranked if row.system in reference), ranked[0])
        standings = [Standing(row, _name(row, group, titles, about), base, ranked) for row in ranked]
        made.append(Contest({name: base.params[name] for name in names[about]}, standings, about))
    return made


def _setting_names(rows: Sequence[Row]) -> list[str]:
    """Return the parameters that all rows have, and that vary other than by one system's own choice."""
    systems = grouped(rows, attrgetter("system"))
    choosing = [system for system, own in systems.items() if OWN_CHOICE in varying(own)]
    own_choice = OWN_CHOICE if len(choosing) == 1 and len(systems) > 1 else ""
    return [name for name in varying(rows) if name != own_choice and all(name in row.params for row in rows)]


def _name(row: Row, group: Sequence[Row], titles: Mapping[str, str], about: Message) -> Message:
    """Return the system's title, the parameters that its own rows differ in, and the runtime of Python code.

    The runtime is left out if contestants have more in common than their setting.
    """
    twins = [other for other in group if other.system == row.system and other.runtime == row.runtime]
    values = [f"{name} {value_text(row.params[name])}" for name in varying(twins)]
    runtime = [] if about or row.runtime == NATIVE else [row.runtime]
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
