"""Sweeps: the settings of a system that differ only in the value of one parameter.

A setting is a system with one value for each of its parameters (Params). config/run_plan.py and
analysis/pairs.py ask which settings form a sweep. A parameter follows another one if its default
is that one's value (Parameter.same_as), and it has the same value in every setting, as NUM_CLIENTS
does with NUM_API_SERVICES. No parameter follows a follower.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.cell import PARAMETERS, Value

Params = Mapping[str, Value]
Settings = Mapping[str, Sequence[Params]]  # by system


class Sweep(NamedTuple):
    """The settings of a system that differ only in one parameter, and in parameters that by default
    follow it.

    name:   the parameter
    others: the parameters that have one value in all settings
    params: all parameters of each setting, in the order of the plan
    """

    system: str
    name: str
    others: Params
    params: tuple[Params, ...]

    @property
    def values(self) -> list[Value]:
        """The values of the parameter, in the order of the plan."""
        return [params[self.name] for params in self.params]


def sweeps(settings: Settings, fixed: Iterable[str] = ()) -> list[Sweep]:
    """Return the sweeps of each system. A setting may be part of several sweeps, one for each
    parameter that varies.

    fixed: names of parameters that are chosen together, such as a topology, so that none of them is
        swept alone
    """
    return [
        Sweep(system=system, name=name, others=dict(others), params=tuple(same))
        for system, some in settings.items()
        for name, following in _swept(some).items()
        if name not in fixed
        for others, same in _alike(some, (name, *following)).items()
        if len(same) > 1
    ]


def swept_names(settings: Sequence[Params], fixed: Iterable[str] = ()) -> set[str]:
    """Return the names of the parameters in which settings of one system differ if they are parts
    of a sweep.
    """
    return {
        part
        # "" stands for the only system
        for sweep in sweeps({"": settings}, fixed)
        for part in (sweep.name, *sweep.params[0].keys() - sweep.others.keys())
    }


def varying_names(settings: Sequence[Params]) -> list[str]:
    """Return the names of the parameters that all *settings* have, and that differ between them."""
    shared = set.intersection(*map(set, settings))
    return [name for name in settings[0] if name in shared and _differs(name, settings)]


def _differs(name: str, settings: Sequence[Params]) -> bool:
    # repr, because 1 == True
    return len({repr(params[name]) for params in settings}) > 1


def _swept(settings: Sequence[Params]) -> dict[str, list[str]]:
    """Return the parameters that vary, each with the parameters that follow it; a follower has no
    entry of its own.
    """
    varying = varying_names(settings)
    following: dict[str, list[str]] = {name: [] for name in varying}
    for name in varying:
        leader = PARAMETERS[name].same_as if name in PARAMETERS else ""
        if leader in varying and all(params[name] == params[leader] for params in settings):
            following[leader].append(name)
            del following[name]
    return following


def _alike(
    settings: Sequence[Params], names: Iterable[str]
) -> dict[tuple[tuple[str, Value], ...], list[Params]]:
    """Return groups of settings that differ only in *names*, by their other parameters."""
    found: dict[tuple[tuple[str, Value], ...], list[Params]] = {}
    for params in settings:
        others = tuple(sorted((name, value) for name, value in params.items() if name not in names))
        found.setdefault(others, []).append(params)
    return found
