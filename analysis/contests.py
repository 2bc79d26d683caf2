"""Rank services by throughput under each runtime at the same load.

A contestant is a row of the results (analysis/cell_index.py: Row): one setting under one runtime.
The sections of experiments/ and reports/parts/contest.py show the rankings. Shares come from
checked_ratio() (analysis/gates.py), and have no verdict of their own.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from analysis.cell_index import Row, grouped
from analysis.gates import checked_ratio
from analysis.settings import value_text, varying
from analysis.stats import Estimate
from core.cell import Value
from core.messages import NOTHING, Message, listed, verbatim
from core.runtime import NATIVE

# a parameter of one contestant: Netty takes part with one thread and with two
OWN_CHOICE = "NUM_SERVER_THREADS"


@dataclass(frozen=True)
class Standing:
    """An entry of a ranking: the name and the measurements of one of the ranked services.

    row:    the measurements of the service (system)
    name:   system, own parameters and runtime, as far as contestants differ in them
    base:   the row of the contestant to which shares refer
    """

    row: Row
    name: Message
    base: Row

    @property
    def share(self) -> Estimate | None:
        """The requests/s of the ranked system, divided by the requests/s of the
        reference system.
        """
        return rate_share(self.row, self.base)

    @property
    def trace(self) -> str:
        """The names of the ranked system's measurements, which links on the page use."""
        return self.row.trace


@dataclass(frozen=True)
class Contest:
    """A ranking (contest) of the systems that were measured at one setting, the fastest first.

    setting: the parameters that vary between contests
    about:   what else the contestants have in common that those of other contests do not have
    """

    setting: Mapping[str, Value]
    standings: Sequence[Standing]
    about: Message

    @property
    def label(self) -> Message:
        """Return the parameters with which the ranked systems were measured; empty if the run has
        only one set.
        """
        values = [f"{name} {value_text(value)}" for name, value in self.setting.items()]
        return listed([*([self.about] if self.about else []), *values])

    @property
    def reference(self) -> Standing:
        """Return the system by whose requests/s the ranking divides the requests/s of
        every system.
        """
        return next(standing for standing in self.standings if standing.row is standing.base)


def contests(
    rows: Sequence[Row],
    titles: Mapping[str, str],
    *,
    reference: Container[str] = (),
    kind: Callable[[Row], Message] = lambda row: NOTHING,
) -> list[Contest]:
    """Return a ranking (contest) of systems for each setting at which they were measured.

    A setting is here a combination of values of the parameters that vary and that all rows of the
    same kind have.
    rows:      rows without figures take no part
    reference: shares refer to the fastest of these systems; to the fastest of all systems if none
        is given
    kind:      returns the kind of a row; only rows of the same kind are ranked together
    """
    measured = [row for row in rows if row.figures]
    names = {common: _setting_names(alike) for common, alike in grouped(measured, kind).items()}
    groups = grouped(
        measured, lambda row: (kind(row), *(row.params[name] for name in names[kind(row)]))
    )
    made = []
    for group in groups.values():
        common, ranked = kind(group[0]), sorted(group, key=rate, reverse=True)
        base = next((row for row in ranked if row.system in reference), ranked[0])
        standings = [Standing(row, _name(row, group, titles, common), base) for row in ranked]
        made.append(Contest({name: base.params[name] for name in names[common]}, standings, common))
    return made


def _setting_names(rows: Sequence[Row]) -> list[str]:
    """Return the names of the parameters whose values distinguish one ranking from another.

    They vary, and all rows have them. OWN_CHOICE is left out if only one of several systems varies
    it.
    """
    systems = grouped(rows, attrgetter("system"))
    choosing = [system for system, own in systems.items() if OWN_CHOICE in varying(own)]
    own_choice = OWN_CHOICE if len(choosing) == 1 and len(systems) > 1 else ""
    in_all = set.intersection(*(set(row.params) for row in rows)) if rows else set()
    return [name for name in varying(rows) if name != own_choice and name in in_all]


def _name(row: Row, group: Sequence[Row], titles: Mapping[str, str], common: Message) -> Message:
    """Return a ranked system's name: its title, the parameters in which its rows differ, and its
    runtime.

    The runtime is left out for native programs and if *common*, what the systems have in common, is
    not empty.
    """
    twins = [
        other for other in group if other.system == row.system and other.runtime == row.runtime
    ]
    values = [f"{name} {value_text(row.params[name])}" for name in varying(twins)]
    runtime = [] if common or row.runtime == NATIVE else [row.runtime]
    return listed([titled(row.system, titles), *values, *runtime])


def titled(system: str, titles: Mapping[str, str]) -> Message:
    """Return the title of a system, or its name if *titles* lacks the system."""
    return Message(msgid=titles[system]) if system in titles else verbatim(system)


def rate(row: Row) -> float:
    """Return the requests/s of a row; 0 if the row has no figures."""
    return row.figures["requests_per_s"] if row.figures else 0.0


def rate_share(row: Row, base: Row) -> Estimate | None:
    """Return the throughput of *row* as a share of that of *base*, paired by block; None if a gate
    forbids it.
    """
    ratio = checked_ratio(base.cells, row.cells, NOTHING)
    return ratio if isinstance(ratio, Estimate) else None
