"""Which runtimes are compared, and what each comparison is due to: version, build or lock. Pure."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.messages import AND, COMMA, NOTHING, Arg, Message, listed, message
from core.runtime import NATIVE, RuntimeName

StepName = Literal["version", "build", "lock", "whole", "aa", "other", "best"]
INSTALLERS = {"pip", "setuptools", "wheel"}  # what an environment without uv has besides
FLAGS = ("pgo", "lto", "shared", "debug", "tail_call", "jit")
NAMES: Mapping[str, Message] = {
    "version": message("version"),
    "build": message("build"),
    "lock": message("lock"),
    "whole": message("whole"),
    "aa": message("A/A"),
    "other": message("several"),
    "best": message("best against best"),
}
ON, OFF, MISSING = message("on"), message("off"), message("missing")


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
    chain = _chain(arms)
    found = [_step(one, next_one) for one, next_one in itertools.pairwise(chain)]
    if len(chain) > 2:
        found.append(_step(chain[0], chain[-1], "whole"))
    same = [Step(name="aa", denominator=runtime, numerator=arm, causes=()) for arm, runtime in again.items()]
    return found + same


def steps_to_the_last(arms: Sequence[str]) -> list[Step]:
    """From each runtime to the last of the order, between the best service of each: designs may differ, too."""
    chain = _chain(arms)
    return [_step(name, chain[-1], "best") for name in chain[:-1]]


def _chain(arms: Sequence[str]) -> list[RuntimeName]:
    """Default builds first, by version, then free-threaded ones, with the GIL on before off."""
    return sorted((RuntimeName.parse(arm) for arm in arms if arm != NATIVE), key=_place)


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


def not_separated(found: Sequence[Step]) -> list[Message]:
    """For each step with several causes, what it cannot separate and which runtimes would."""
    return [
        message(
            "{denominator} → {numerator} mixes {causes}: nothing between them was measured. To separate them, add "
            "--runtime {runtimes}.",
            denominator=step.denominator, numerator=step.numerator, runtimes=",".join(_between(step)),
            causes=listed([NAMES[cause] for cause in step.causes], COMMA, AND),
        )
        for step in found
        if step.name == "other"
    ]  # fmt: skip


def _between(step: Step) -> list[str]:
    """The runtimes that lead from one end of the step to the other, one cause at a time."""
    start, end = RuntimeName.parse(step.denominator), RuntimeName.parse(step.numerator)
    names = [str(start)]
    if "version" in step.causes and len(step.causes) > 1:
        names.append(str(replace(start, version=end.version)))
    if "build" in step.causes and "lock" in step.causes:
        names.append(f"{end.version}t+gil")
    return list(dict.fromkeys([*names, str(end)]))


def confounds(step: Step, runtimes: Mapping[str, Mapping[str, Any]]) -> list[Message]:
    """What else differs between the builds of a step than its cause.

    Compiler, flags, minor version; versions of the packages in a user's own environment.
    """
    before, after = runtimes.get(step.denominator), runtimes.get(step.numerator)
    if before is None or after is None:
        return []
    facts = [(message("compiler"), "compiler")]
    facts += [] if "version" in step.causes else [(message("version"), "version")]
    differs = [_against(name, str(before.get(key)), str(after.get(key))) for name, key in facts]
    differs[1:1] = [_against(flag, _on(before, flag), _on(after, flag)) for flag in FLAGS]
    return [*filter(None, differs), *_other_packages(before.get("packages", {}), after.get("packages", {}))]


def _against(name: Arg, before: Arg, after: Arg) -> Message:
    """What differs, on both sides; nothing where it does not."""
    alike = before == after
    return NOTHING if alike else message("{name} {before} against {after}", name=name, before=before, after=after)


def _other_packages(before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]) -> list[Message]:
    """Packages whose versions differ, or that only one has, by a user's requirements file.

    That stands there by its absolute path; our own files pin one version for every runtime.
    """
    return [
        _against(message("package {name}", name=name), mine.get(name, MISSING), theirs.get(name, MISSING))
        for file in before
        if file.startswith("/") and file in after
        for mine, theirs in [(before[file], after[file])]
        for name in sorted({*mine, *theirs} - INSTALLERS)
        if mine.get(name) != theirs.get(name)
    ]


def _on(facts: Mapping[str, Any], flag: str) -> Message:
    return ON if facts.get("flags", {}).get(flag) else OFF
