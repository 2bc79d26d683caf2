"""What the profiles and cells of a run are evidence of, as facts for rules of advice (reports/rows/advice.py)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.result import Run
from reports.rows.advice import Collecting, Fact, LockWait, SharedCounts, Stops
from reports.rows.pauses import Pauses, pauses
from reports.rows.summary import Row

LEAST_SAMPLES = 20
Profile = Mapping[str, Any]


def facts(run: Run, groups: Iterable[Sequence[Row]]) -> list[Fact]:
    """Of every runtime that the run has something of. groups: its rows, those that differ in the arm alone together"""
    locks = [profile for profile in run.profiles if profile.get("kind") == "locks" and "contended" in profile]
    collecting = [_collecting(each) for rows in groups for each in pauses(rows)]
    return [*collecting, *(fact for profile in locks for fact in _of_locks(profile))]


def _collecting(each: Pauses) -> Collecting:
    return Collecting(runtime=each.row.runtime, share=each.share, longest_ns=each.longest_ns, holds_up=each.is_finding)


def _of_locks(profile: Profile) -> Iterator[Fact]:
    """Of a profile of locks: what is contended, what stops all threads, and shared counts."""
    runtime = profile["runtime"]
    for line in _sampled(profile["contended"]):
        yield LockWait(
            runtime=runtime,
            share=line["share"],
            owner=line["owner"],
            place=_place(line),
            files=tuple(frame["file"] for frame in line["stack"]),
        )
    for line in _sampled(profile["stopping"])[:1]:
        yield Stops(
            runtime=runtime,
            per_request=profile["stops"] / max(1, profile["requests"]),
            share=min(1.0, profile["stopping_ns"] / max(1, profile["in_flight_ns"])),
            place=_place(line),
            function=line["stack"][0]["function"] if line["stack"] else "",
        )
    if profile["cpu_samples"] * profile["count_share"] >= LEAST_SAMPLES:
        yield SharedCounts(runtime=runtime, share=profile["count_share"])


def _sampled(lines: Sequence[Profile]) -> list[Profile]:
    """Those that were seen so often that they mean something."""
    return [line for line in lines if line["samples"] >= LEAST_SAMPLES]


def _place(line: Profile) -> str:
    """The innermost frame; "" outside of Python."""
    return "{file}:{line} in {function}".format(**line["stack"][0]) if line["stack"] else ""
