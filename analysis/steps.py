"""Steps: which runtimes are compared, and in what they differ, such as version, build,
GIL or JIT.

Runtime names are those of core/runtime.py: `3.14t` is free-threaded, `3.14t+gil` has its GIL on,
and `3.14+jit` has its JIT on. analysis/pairs.py makes a pair of measurements of each step.
choice.py compares best settings by these steps, and capacity_ratios.py capacities.
"""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.messages import AND, COMMA, Message, listed, message
from core.runtime import NATIVE, RuntimeFacts, RuntimeName
from record.comparison import VALUE, StepName

# comparisons of the values of a swept parameter, not of runtimes
OF_VALUES = (VALUE, "interaction")
# by Step.name: what a report calls the step; OF_VALUES have no name here
NAMES: Mapping[str, Message] = {
    "version": message("version"),
    "patch": message("patch"),
    "build": message("build"),
    "lock": message("GIL"),
    "jit": message("JIT"),
    "whole": message("whole"),
    "aa": message("A/A"),
    "other": message("several causes"),
    "best": message("best settings compared"),
}
# the field of RuntimeName that differs for each cause, in the order in which causes are named
CAUSES: Mapping[StepName, str] = {
    "version": "version",
    "patch": "patch",
    "build": "free_threaded",
    "lock": "gil_enabled",
    "jit": "jit_enabled",
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step: a comparison of two runtimes that divides the numerator's throughput by the
    denominator's.

    causes: those of version, patch, build, lock and jit in which the two arms differ
    """

    name: StepName
    denominator: str
    numerator: str
    causes: tuple[StepName, ...] = ()

    @property
    def arms(self) -> tuple[str, str]:
        """The two arms, the denominator first."""
        return self.denominator, self.numerator


def steps(
    arms: Sequence[str], again: Mapping[str, str], facts: Mapping[str, RuntimeFacts]
) -> list[Step]:
    """Return the comparisons (steps) of neighbouring runtimes, then of the first with the last,
    then of A/A.

    arms:  names of the runtimes that took part; `native` has no steps
    again: {name of the second A/A arm: its runtime}
    facts: {runtime: what its interpreter reported}, which tells the patch release of '3.14t'
    Neighbours differ in one cause: the builds of one patch release in the order default,
    free-threaded with GIL, and free-threaded without GIL; a build without and with JIT; one build
    in successive releases. If no chain of neighbours connects two arms, the arms next to each other
    in the order are compared. A step between arms that differ in several causes is called other,
    because its causes cannot be separated.
    """
    named = _named(arms, facts)
    chain = [*named]
    pairs = _neighbours(chain)
    found = [_step(named, *pair) for pair in pairs]
    if len(chain) > 2 and (chain[0], chain[-1]) not in pairs:
        found.append(_step(named, chain[0], chain[-1], "whole"))
    return found + [
        Step(name="aa", denominator=runtime, numerator=arm) for arm, runtime in again.items()
    ]


def steps_to_the_last(arms: Sequence[str], facts: Mapping[str, RuntimeFacts]) -> list[Step]:
    """Return comparisons of the best setting of each earlier runtime with the best setting of the
    last runtime.
    """
    *others, last = named = _named(arms, facts)
    return [_step(named, name, last, "best") for name in others]


def _named(
    arms: Sequence[str], facts: Mapping[str, RuntimeFacts]
) -> dict[RuntimeName, RuntimeName]:
    """Return a mapping from runtime names with patch release to names without it, in the order of
    comparison.

    An arm without facts gets the patch release of other arms of its version. Default builds come
    first, by version, then free-threaded builds, those with the GIL first.
    """
    interpreted = [RuntimeName(arm) for arm in arms if arm != NATIVE]
    reported = {arm: facts[arm].version for arm in interpreted if arm in facts}
    of_version = {arm.version: version for arm, version in reported.items()}
    named = {}
    for arm in interpreted:
        release = reported.get(arm) or of_version.get(arm.version, "")
        named[arm if arm.patch else arm.of_release(release)] = arm

    def order(name: RuntimeName) -> tuple[Any, ...]:
        return name.free_threaded, name.minor, name.release, not name.gil_enabled, name.jit_enabled

    return {name: named[name] for name in sorted(named, key=order)}


def _neighbours(chain: Sequence[RuntimeName]) -> list[tuple[RuntimeName, RuntimeName]]:
    """Return the pairs of runtimes with a single difference: build or GIL, JIT, or two successive
    releases.

    As many pairs of runtimes that are next to each other in *chain* are added as are needed to
    connect all runtimes.
    """
    groups: dict[Any, list[RuntimeName]] = defaultdict(list)
    for name in chain:
        # members of a group differ only in: build and GIL; GIL and JIT; release
        groups["release", name.version, name.patch, name.jit_enabled].append(name)
        groups["build", name.version, name.patch, name.free_threaded].append(name)
        groups["kind", name.free_threaded, name.suffixes].append(name)
    # each group keeps the order of *chain*, so neighbours in a group are neighbouring values
    single = [pair for group in groups.values() for pair in itertools.pairwise(group)]
    pairs, reached = set(single), {name: {name} for name in chain}
    for one, other in (*single, *itertools.pairwise(chain)):
        if reached[one] is not reached[other]:
            pairs.add((one, other))
            together = reached[one] | reached[other]
            reached |= dict.fromkeys(together, together)
    return sorted(pairs, key=lambda pair: [*map(chain.index, reversed(pair))])


def _step(
    named: Mapping[RuntimeName, RuntimeName],
    denominator: RuntimeName,
    numerator: RuntimeName,
    name: StepName | None = None,
) -> Step:
    causes = _causes(denominator, numerator)
    return Step(
        name=name or (causes[0] if len(causes) == 1 else "other"),
        denominator=named[denominator],
        numerator=named[numerator],
        causes=causes,
    )


def _causes(denominator: RuntimeName, numerator: RuntimeName) -> tuple[StepName, ...]:
    differs = [
        cause for cause, of in CAUSES.items() if getattr(denominator, of) != getattr(numerator, of)
    ]
    # two versions always have different patch releases, which is no second cause
    return tuple(cause for cause in differs if cause != "patch" or "version" not in differs)


def several_causes(denominator: str, numerator: str) -> Message:
    """Return the causes of step `other` as text, as far as the names of the runtimes show them:
    'build and GIL'.
    """
    names = RuntimeName(denominator), RuntimeName(numerator)
    are_releases = all(name.patch for name in names)
    causes = [cause for cause in _causes(*names) if cause != "patch" or are_releases]
    return listed([NAMES[cause] for cause in causes], COMMA, AND) or NAMES["other"]
