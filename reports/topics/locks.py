"""Whose lock: contended mutexes by the type of their object and line, stops of all threads, by `--profile locks`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.messages import SENTENCES, Message, listed, message, verbatim
from reports.document.model import (
    ABSENT,
    Group,
    Line,
    Section,
    Table,
    arm,
    columns,
    estimate,
    number,
    plain_table,
    words,
)
from reports.document.values import hundredths, percent
from reports.facts.bounds import bound_of_lock
from reports.view import View

PLACE = 83
KIND = "locks"
MOST_LINES = 8
RUNTIME = message("Runtime")
HOW = message(
    "From one more cell of each, in no other figure. Shares are of the time that requests took, divided among "
    "lines by samples of Python stacks that were taken while threads waited. Counting of references, of CPU time, "
    "is a lower bound: most of it is inlined and cannot be seen."
)
Profile = Mapping[str, Any]


def section(view: View) -> Section:
    """The sentence of each profile; sums; the lines that stop all threads, and those that wait for a lock."""
    profiles = [profile for profile in view.run.profiles if profile.get("kind") == KIND]
    sentences = tuple(_sentence(profile, view) for profile in profiles)
    seen = [profile for profile in profiles if "contended" in profile]
    return Section(
        key="locks",
        title=message("Whose lock"),
        sentences=sentences,
        tables=(_sums(seen, view), _lines(seen, view)),
        notes=(HOW,) if seen else (),
        terminal=sentences,
    )


def _sentence(profile: Profile, view: View) -> Message:
    """What was seen, and whether that may be the reason of anything."""
    said = view.settings.profiled(profile)
    if "contended" not in profile:
        return said
    owners = [line.get("owner", "") for line in profile["contended"]]
    gain = bound_of_lock(view.run, view.rows, profile, _share(profile, "waiting_ns"), owners)
    if not gain.is_little or gain.throughput is None:
        return said
    remark = message(
        "Without waiting for locks, throughput would gain at most {more}.", more=estimate(gain.throughput, percent)
    )
    return listed([said, remark], SENTENCES)


def _sums(profiles: Sequence[Profile], view: View) -> Table:
    lines = tuple(
        (
            arm(profile["runtime"], view.looks.get(profile["runtime"])),
            profile["system"],
            number(profile["stops"] / max(1, profile["requests"]), hundredths),
            *(number(_share(profile, name), percent) for name in ("stopping_ns", "waiting_ns")),
            number(profile["count_share"], percent),
        )
        for profile in profiles
    )
    heads = (
        message("stops of all threads per request"),
        message("time spent on stops"),
        message("time waiting for contended locks"),
        message("CPU time counting shared references"),
    )
    return plain_table(message("Locks and stops"), (RUNTIME, message("System")), lines, heads)


def _share(profile: Profile, name: str) -> float:
    return float(min(1.0, profile[name] / max(1, profile["in_flight_ns"])))


def _lines(profiles: Sequence[Profile], view: View) -> Table:
    return Table(
        name=message("Lines that wait for whose lock"),
        columns=columns((RUNTIME, message("Lock"), message("Line"), message("Called at")), [message("share of time")]),
        groups=tuple(Group(lines=tuple(_of_profile(profile, view))) for profile in profiles),
    )


def _of_profile(profile: Profile, view: View) -> Iterator[Line]:
    stops = [(message("a stop of all threads"), line) for line in profile["stopping"]]
    waits = [(Message.from_json(line["lock"]), line) for line in profile["contended"]]
    for lock, line in sorted([*stops, *waits], key=lambda pair: -float(pair[1]["share"]))[:MOST_LINES]:
        stack = line.get("stack", [])
        callers = [frame for frame in stack if frame["file"] != stack[0]["file"]]
        yield (
            arm(profile["runtime"], view.looks.get(profile["runtime"])),
            words(lock),
            words(_place(stack[0]) if stack else message("outside of Python")),
            words(_place(callers[0]) if callers else verbatim(ABSENT)),
            number(line["share"], percent),
        )


def _place(frame: Mapping[str, Any]) -> Message:
    return message("{file}:{line} in {function}", file=frame["file"], line=frame["line"], function=frame["function"])
