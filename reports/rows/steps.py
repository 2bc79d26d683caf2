"""Which runtimes are compared, and what each comparison is due to: version, build or lock. Pure."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.runtime import NATIVE, RuntimeName

StepName = Literal["version", "build", "lock", "whole", "aa", "other"]
INSTALLERS = {"pip", "setuptools", "wheel"}  # what an environment without uv has besides
FLAGS = ("pgo", "lto", "shared", "debug", "tail_call", "jit")
WORDS = {
    "version": "the newer version",
    "build": "the free-threaded build with its GIL on",
    "lock": "removing the GIL",
    "whole": "the whole way",
    "aa": "nothing (the same runtime twice)",
    "other": "the mix of causes",
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """A comparison of two arms: is the numerator faster than the denominator, and what is that due to?

    causes: version, build and lock, as far as the two differ in them
    """

    name: StepName
    denominator: str
    numerator: str
    causes: tuple[str, ...]


def causes(denominator: RuntimeName, numerator: RuntimeName) -> tuple[str, ...]:
    """What differs between two runtimes: version, build (free-threaded or default), lock (GIL on or off)."""
    differs = {
        "version": denominator.version != numerator.version,
        "build": denominator.free_threaded != numerator.free_threaded,
        "lock": denominator.gil_enabled != numerator.gil_enabled,
    }
    return tuple(name for name, holds in differs.items() if holds)


def steps(arms: Sequence[str], again: Mapping[str, str]) -> list[Step]:
    """The steps from the oldest default build to the newest free-threaded one, the whole way, and A/A.

    arms: names of the runtimes that took part, of which `native` is no step
    again: {name of the second arm: its runtime}
    A step between neighbours that differ in more than one cause is called other: what is missing between them
    cannot be separated.
    """
    chain = sorted((RuntimeName.parse(arm) for arm in arms if arm != NATIVE), key=_place)
    found = [_step(one, next_one) for one, next_one in itertools.pairwise(chain)]
    if len(chain) > 2:
        found.append(_step(chain[0], chain[-1], "whole"))
    same = [Step(name="aa", denominator=runtime, numerator=arm, causes=()) for arm, runtime in again.items()]
    return found + same


def _place(name: RuntimeName) -> tuple[bool, int, bool]:
    return name.free_threaded, int(name.version.removeprefix("3.")), not name.gil_enabled


def _step(denominator: RuntimeName, numerator: RuntimeName, name: StepName | None = None) -> Step:
    differs = causes(denominator, numerator)
    single: Mapping[tuple[str, ...], StepName] = {("version",): "version", ("build",): "build", ("lock",): "lock"}
    return Step(
        name=name or single.get(differs, "other"),
        denominator=str(denominator),
        numerator=str(numerator),
        causes=differs,
    )


def not_separated(found: Sequence[Step]) -> list[str]:
    """For each step with several causes, what it cannot separate and which runtime would, in words."""
    return [
        f"{step.denominator} -> {step.numerator} mixes {' and '.join(step.causes)}: nothing between them was "
        f"measured. To separate them, add --runtime {','.join(_between(step))}."
        for step in found
        if step.name == "other"
    ]


def _between(step: Step) -> list[str]:
    """The runtimes that lead from one end of the step to the other, one cause at a time."""
    start, end = RuntimeName.parse(step.denominator), RuntimeName.parse(step.numerator)
    names = [str(start)]
    if "version" in step.causes and len(step.causes) > 1:
        names.append(str(replace(start, version=end.version)))
    if "build" in step.causes and "lock" in step.causes:
        names.append(f"{end.version}t+gil")
    return list(dict.fromkeys([*names, str(end)]))


def confounds(step: Step, runtimes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What else differs between the builds of a step than its cause, in words.

    Compiler, flags, minor version; versions of the packages in a user's own environment.
    """
    one, other = runtimes.get(step.denominator), runtimes.get(step.numerator)
    if one is None or other is None:
        return []
    differs = []
    if one.get("compiler") != other.get("compiler"):
        differs.append(f"compiler {one.get('compiler')} against {other.get('compiler')}")
    differs += [
        f"{flag} {_on(one, flag)} against {_on(other, flag)}" for flag in FLAGS if _on(one, flag) != _on(other, flag)
    ]
    if "version" not in step.causes and one.get("version") != other.get("version"):
        differs.append(f"version {one.get('version')} against {other.get('version')}")
    return differs + _other_packages(one.get("packages", {}), other.get("packages", {}))


def _other_packages(before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Packages whose versions differ, or that only one has, by a user's requirements file.

    That stands there by its absolute path; our own files pin one version for every runtime.
    """
    return [
        f"package {name} {one.get(name, 'missing')} against {other.get(name, 'missing')}"
        for file in before
        if file.startswith("/") and file in after
        for one, other in [(before[file], after[file])]
        for name in sorted({*one, *other} - INSTALLERS)
        if one.get(name) != other.get(name)
    ]


def _on(facts: Mapping[str, Any], flag: str) -> str:
    return "on" if facts.get("flags", {}).get(flag) else "off"
