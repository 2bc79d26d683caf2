"""What the profiles and cells of a run are evidence of, as facts for rules of advice (reports/facts/advice.py)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.result import Run
from core.runtime import RuntimeName
from reports.facts.advice import NOTABLE_SHARE, Collecting, Cost, Fact, LockWait, SharedCounts, SlowRelease, Stops
from reports.facts.bounds import bound, bound_of_lock, row_of
from reports.facts.cells import Row
from reports.facts.comparisons import Comparison
from reports.facts.pauses import Pauses, pauses
from reports.facts.waits import lines, settings, waits

LEAST_SAMPLES = 20
MOST_LINES = 3
Profile = Mapping[str, Any]


def facts(run: Run, groups: Iterable[Sequence[Row]]) -> list[Fact]:
    """Of every runtime that the run has something of. groups: its rows, those that differ in the arm alone together"""
    groups = tuple(groups)
    locks = [profile for profile in run.profiles if profile.get("kind") == "locks" and "contended" in profile]
    collecting = [_collecting(each, run) for rows in groups for each in pauses(rows)]
    waiting = [wait for profiles in settings(run) for profile in profiles for wait in _waiting(profile, profiles)]
    costs = [*waiting, *((profile, fact, fact.share) for profile in locks for fact in _of_locks(profile))]
    rows = [row for group in groups for row in group]
    return [*collecting, *(_bounded(fact, profile, rows, run, most) for profile, fact, most in costs)]


def slow_releases(run: Run, comparisons: Iterable[Comparison], found: Iterable[Fact]) -> list[SlowRelease]:
    """Return the free-threaded patch releases with a verdict of slower that are *found* to stop all threads.

    Empty where patch releases were compared: that verdict says it.
    """
    comparisons = tuple(comparisons)
    stopped = {fact.runtime for fact in found if isinstance(fact, Stops) and fact.share >= NOTABLE_SHARE}
    slower = [one for one in comparisons if one.verdict == "slower" and one.numerator in stopped]
    releases = {}
    for one in slower:
        name = RuntimeName.parse(one.numerator)
        name = name.of_release(str(run.runtimes.get(one.numerator, {}).get("version", "")))
        if name.free_threaded and name.patch.isdecimal() and int(name.patch):
            before = replace(name, patch=str(int(name.patch) - 1))
            releases[name] = SlowRelease(release=str(name), than=one.denominator, before=str(before))
    return [] if any(one.step == "patch" for one in comparisons) else list(releases.values())


def _collecting(each: Pauses, run: Run) -> Collecting:
    """What collections take is bounded by their share, for they may take as much CPU time as that."""
    slow = each.slow.causes.get("collection") if each.slow else None
    return Collecting(
        runtime=each.row.runtime,
        share=each.share,
        longest_ns=each.longest_ns,
        holds_up=each.is_finding,
        bound=bound(each.row, run, each.share, None, slow.share if slow else None),
    )


def _bounded(fact: Cost, profile: Profile, rows: Sequence[Row], run: Run, most: float) -> Cost:
    """The fact with what it can gain. Of shared counts that is not known, for their share is a lower bound.

    most: the upper end of its share
    """
    if isinstance(fact, LockWait):
        return replace(fact, bound=bound_of_lock(run, rows, profile, most, [fact.owner]))
    if isinstance(fact, Stops):  # all threads stand besides
        stood = profile["stood_ns"] / max(1, profile["watched_ns"])
        arm = row_of(rows, profile)
        return replace(fact, bound=bound(arm, run, min(1.0, fact.share + stood), None))
    return fact


def _waiting(profile: Profile, profiles: Sequence[Profile]) -> Iterator[tuple[Profile, Cost, float]]:
    """The lines that are shown to wait for a lock in a profile by python, those that wait most."""
    for wait in waits(profile, lines(profiles))[:MOST_LINES]:
        yield (
            profile,
            LockWait(
                runtime=wait.runtime,
                share=wait.share.value,
                owner="",
                place=f"{wait.place} in {wait.function}",
                files=(wait.file, wait.caller),
                under_gil=RuntimeName.parse(wait.runtime).gil_enabled,
            ),
            min(1.0, wait.share.high),
        )


def _of_locks(profile: Profile) -> Iterator[Cost]:
    """Of a profile of locks: what is contended, what stops all threads, and shared counts."""
    runtime = profile["runtime"]
    for line in _sampled(profile["contended"]):
        yield LockWait(
            runtime=runtime,
            share=line["share"],
            owner=line["owner"],
            place=_place(line),
            files=tuple(frame["file"] for frame in _stack(line)),
        )
    for line in _sampled(profile["stopping"])[:1]:
        yield Stops(
            runtime=runtime,
            per_request=profile["stops"] / max(1, profile["requests"]),
            share=min(1.0, profile["stopping_ns"] / max(1, profile["in_flight_ns"])),
            place=_place(line),
            function=next((frame["function"] for frame in _stack(line)), ""),
        )
    if profile["cpu_samples"] * profile["count_share"] >= LEAST_SAMPLES:
        yield SharedCounts(runtime=runtime, share=profile["count_share"])


def _sampled(lines: Sequence[Profile]) -> list[Profile]:
    """Those that were seen so often that they mean something."""
    return [line for line in lines if line["samples"] >= LEAST_SAMPLES]


def _place(line: Profile) -> str:
    """The innermost frame; "" outside of Python."""
    return next(("{file}:{line} in {function}".format(**frame) for frame in _stack(line)), "")


def _stack(line: Profile) -> Sequence[Profile]:
    stack: Sequence[Profile] = line.get("stack", ())
    return stack
