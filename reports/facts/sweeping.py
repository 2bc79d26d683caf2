"""Which of a run's rows make a sweep: one numeric parameter varies while the others stay as they are. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.cell import PARAMETERS
from reports.facts.cells import Row, by_system
from reports.facts.settings import shown, varying


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A system's rows along one parameter: per panel, rows that agree in all others.

    follows: parameters that change with it, so that their effect cannot be told from its own
    """

    system: str
    name: str
    follows: tuple[str, ...]
    panels: tuple[tuple[Row, ...], ...]


def sweeps(rows: Sequence[Row]) -> Iterator[Sweep]:
    """Every numeric parameter that takes several values while the others of its system stay as they are."""
    for system, mine in by_system(rows):
        names = varying(mine)
        for place, name in enumerate(names):
            follows = [other for other in names if other != name and _determines(name, other, mine)]
            repeated = any(_determines(other, name, mine) for other in names[:place] if other in follows)
            panels = _panels(mine, name, [other for other in names if other not in (name, *follows)])
            if _is_numeric(name) and panels and not repeated:
                yield Sweep(system=system, name=name, follows=tuple(follows), panels=panels)


def _is_numeric(name: str) -> bool:
    return name in PARAMETERS and PARAMETERS[name].kind is int


def _determines(name: str, other: str, rows: Sequence[Row]) -> bool:
    """Whether *other* has one value for each value of *name*, as NUM_CLIENTS has that follows NUM_API_SERVICES."""
    pairs = {tuple(shown(row, (name, other)).items()) for row in rows}
    return len(pairs) == len({pair[0] for pair in pairs if pair})


def _panels(rows: Sequence[Row], name: str, fixed: Sequence[str]) -> tuple[tuple[Row, ...], ...]:
    panels: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        panels.setdefault(tuple(shown(row, fixed).values()), []).append(row)
    return tuple(tuple(panel) for panel in panels.values() if len({row.params[name] for row in panel}) > 1)
