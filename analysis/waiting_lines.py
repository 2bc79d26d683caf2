"""Lines of code at which a service's threads wait for locks, from the profiles of `--profile
python`.

A profile is an entry of Run.profiles, a dict with the keys of record/profile.py: PythonProfile. Its
samples are counted in batches, successive periods of equal length; shares are of working time, the
samples of threads at work. The sections waits and lost_time of reports/sections show the results.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from analysis.cell_index import grouped
from analysis.stats import Estimate, difference, share
from core.runtime import RuntimeName
from record.saved_run import Run

LEAST_SHARE = 0.02  # of working time; the low end of a finding's interval is above it
LOCK = "lock"  # the key of Line.waits for waiting for a lock
Profile = Mapping[str, Any]  # a profile, or one of its lines (record/profile.py: Line)


class WaitingLine(NamedTuple):
    """A line of code at which threads wait for a lock, with the share of their working time that
    they wait there.

    caller: the line of the user's own code that called the function
    """

    runtime: str
    function: str
    place: str
    file: str
    caller: str
    share: Estimate


class WaitChange(NamedTuple):
    """A line of code that waits for a lock longer under one runtime than under another, in shares
    of working time.
    """

    wait: WaitingLine
    other: str
    other_share: float
    by: Estimate


def settings(run: Run) -> list[list[Profile]]:
    """Return the profiles of `--profile python` that name lines of code, grouped by setting, in the
    plan's order.
    """
    found: list[Profile] = [
        one for one in run.profiles if one.get("kind") == "python" and "lines" in one
    ]
    return [*grouped(found, lambda profile: f"{profile['system']} {profile['params']}").values()]


def waits(profile: Profile, profiles: Iterable[Profile]) -> list[WaitingLine]:
    """Return the lines of code in *profile* that wait significantly for a lock, longest wait first.

    profiles: all profiles whose lines are tested together
    """
    tests = sum(len(_waiting(each)) for each in profiles)
    shown = (_waiting_line(profile, line, tests) for line in _waiting(profile))
    return sorted(
        (wait for wait in shown if wait.share.low > LEAST_SHARE), key=lambda wait: -wait.share.value
    )


def _waiting(profile: Profile) -> list[Profile]:
    return [line for line in profile["lines"] if line["file"] and LOCK in line.get("waits", ())]


def _waiting_line(profile: Profile, line: Profile, tests: int = 1) -> WaitingLine:
    waiting = share(line["waits"][LOCK], profile["batches"], tests)
    caller = line.get("caller", "")
    return WaitingLine(
        profile["runtime"], line["function"], place_of(line), line["file"], caller, waiting
    )


def place_of(line: Profile) -> str:
    """Return a line of code as 'file:line', or the file alone if the line number is not known."""
    return f"{line['file']}:{line['line']}" if line["line"] else str(line["file"])


def changes(profiles: Sequence[Profile]) -> list[WaitChange]:
    """Return the lines of code that wait significantly more under one of two runtimes, largest
    difference first.
    """
    pairs = [pair for one, other in pairwise(profiles) for pair in ((one, other), (other, one))]
    # Bonferroni: the intervals must hold for all lines of all pairs together
    tests = sum(len(_waiting(profile)) for profile, _ in pairs)
    found = []
    for profile, other in pairs:
        version, other_version = (RuntimeName(one["runtime"]).version for one in (profile, other))
        for line in _waiting(profile):
            other_waits = _same_line_waits(other, line, is_alike=version == other_version)
            by = difference(
                line["waits"][LOCK], profile["batches"], other_waits, other["batches"], tests
            )
            if by.low > LEAST_SHARE:
                other_share = sum(other_waits) / max(1, sum(other["batches"]))
                found.append(
                    WaitChange(_waiting_line(profile, line), other["runtime"], other_share, by)
                )
    return sorted(found, key=lambda one: -one.by.value)


def _same_line_waits(profile: Profile, line: Profile, *, is_alike: bool) -> list[int]:
    """Return how many samples of *profile* show the code line *line* waiting for a lock, by batch
    of samples.

    is_alike: False if library versions may differ; lines of libraries are then matched by function
    """
    names = (
        ("function", "file", "line")
        if is_alike or not line.get("is_library")
        else ("function", "file")
    )
    place_of_line = itemgetter(*names)
    same = [
        other["waits"][LOCK]
        for other in _waiting(profile)
        if place_of_line(other) == place_of_line(line)
    ]
    return list(map(sum, zip(*same, strict=True))) or [0] * len(profile["batches"])
