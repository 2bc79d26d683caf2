"""Where a service's threads wait, by a run's profiles: each line's share, and what it is under the next runtime."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core.result import Run
from reports.statistics.stats import Estimate, difference, share

LEAST_SHARE = 0.02
LOCK = "lock"
NO_WAITS: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class Wait:
    """That a line waits for a lock in a share of the time at work. caller: the user's own line that led there."""

    runtime: str
    function: str
    file: str
    line: int
    caller: str
    share: Estimate

    @property
    def place(self) -> str:
        """As reports name it."""
        return place_of(self.file, self.line)


@dataclass(frozen=True, kw_only=True)
class Change:
    """That a line waits in another share under *other* than under its own runtime. by: the difference."""

    wait: Wait
    other: str
    other_share: float
    by: Estimate


Profile = Mapping[str, Any]


def place_of(file: str, line: int) -> str:
    """file:line; the file alone where an instruction has no line."""
    return f"{file}:{line}" if line else file


def settings(run: Run) -> list[list[Profile]]:
    """Profiles by python that hold something: of each setting those of its runtimes, in the plan's order."""
    by_setting: dict[str, list[Profile]] = {}
    for profile in run.profiles:
        if profile.get("kind") == "python" and "lines" in profile:
            by_setting.setdefault(f"{profile['system']} {profile['params']}", []).append(profile)
    return list(by_setting.values())


def waits(profile: Profile, tests: int) -> list[Wait]:
    """Lines that are shown to wait for a lock, those that wait most first. tests: how many lines are looked at"""
    shown = [_wait(profile, line, tests) for line in _waiting(profile)]
    return sorted((wait for wait in shown if wait.share.low > LEAST_SHARE), key=lambda wait: -wait.share.value)


def changes(profiles: Sequence[Profile], run: Run) -> list[Change]:
    """Lines that are shown to wait more under one of two successive runtimes, the greatest difference first."""
    pairs = [pair for one, other in pairwise(profiles) for pair in ((one, other), (other, one))]
    tests = sum(len(_waiting(profile)) for profile, _ in pairs)
    all_changes = [change for one, other in pairs for change in _changes(one, other, run, tests)]
    return sorted(
        (change for change in all_changes if change.by.low > LEAST_SHARE), key=lambda change: -change.by.value
    )


def lines(profiles: Sequence[Profile]) -> int:
    """How many lines wait for a lock in any sample of any of them."""
    return max(1, sum(len(_waiting(profile)) for profile in profiles))


def _waiting(profile: Profile) -> list[Mapping[str, Any]]:
    return [line for line in profile["lines"] if line["file"] and LOCK in line.get("waits", NO_WAITS)]


def _wait(profile: Profile, line: Mapping[str, Any], tests: int) -> Wait:
    return Wait(
        **{name: line[name] for name in ("function", "file", "line")},
        runtime=profile["runtime"],
        caller=line.get("caller", ""),
        share=share(line["waits"][LOCK], profile["batches"], tests),
    )


def _changes(profile: Profile, other: Profile, run: Run, tests: int) -> Iterator[Change]:
    for line in _waiting(profile):
        there = _counts(other, line, are_alike=_version(profile, run) == _version(other, run))
        by = difference(line["waits"][LOCK], profile["batches"], there, other["batches"], tests)
        other_share = sum(there) / max(1, sum(other["batches"]))
        yield Change(wait=_wait(profile, line, 1), other=other["runtime"], other_share=other_share, by=by)


def _counts(profile: Profile, line: Mapping[str, Any], *, are_alike: bool) -> list[int]:
    """Waits of the same line; where a library may be another version, of the same function."""
    names = ("function", "file", "line") if are_alike or not line.get("is_library") else ("function", "file")
    same = [there for there in _waiting(profile) if all(there[name] == line[name] for name in names)]
    return [sum(there["waits"][LOCK][batch] for there in same) for batch in range(len(profile["batches"]))]


def _version(profile: Profile, run: Run) -> list[str]:
    return str(run.runtimes.get(profile["runtime"], {}).get("version", "")).split(".")[:2]
