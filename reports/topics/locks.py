"""Whose lock: contended mutexes by the type of their object and line, stops of all threads, by `--profile locks`."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from core.messages import NOTHING, SENTENCES, Message, listed, message, verbatim
from core.result import Run
from reports.document.model import ABSENT, Section
from reports.document.shapes import Col, arm_col, col, table
from reports.document.values import hundredths, percent
from reports.facts.causes import bound_of_lock
from reports.view import View

PLACE = 83
MOST_LINES = 8
HOW = message(
    "From one more cell of each, in no other figure. Shares are of the time that requests took, divided among "
    "lines by samples of Python stacks that were taken while threads waited. Counting of references, of CPU time, "
    "is a lower bound: most of it is inlined and cannot be seen."
)
Profile = Mapping[str, Any]


def section(view: View) -> Section:
    """Return the sentence of each profile; sums; the lines that stop all threads, and those that wait for a lock."""
    sentences = tuple(_sentence(profile, view) for profile in view.run.profiles if profile.get("kind") == "locks")
    profiles = profiles_of(view.run)
    runtime: Col[Profile] = arm_col(itemgetter("runtime"), view.looks)
    sums = table(
        message("Locks and stops"),
        [
            runtime,
            col(message("System"), itemgetter("system")),
            col(message("stops of all threads per request"), stops_per_request, hundredths),
            col(message("time spent on stops"), lambda one: share_of_time(one, "stopping_ns"), percent),
            col(message("time waiting for contended locks"), lambda one: share_of_time(one, "waiting_ns"), percent),
            col(message("CPU time counting shared references"), itemgetter("count_share"), percent),
        ],
        [(NOTHING, profiles)],
    )
    lines = table(
        message("Lines that wait for whose lock"),
        [
            runtime,
            col(message("Lock"), itemgetter("lock")),
            col(message("Line"), lambda line: _place(line["stack"], message("outside of Python"))),
            col(message("Called at"), lambda line: _place(_callers(line["stack"]), verbatim(ABSENT))),
            col(message("share of time"), itemgetter("share"), percent),
        ],
        [(NOTHING, _lines(profile)) for profile in profiles],
    )
    return Section(
        key="locks",
        title=message("Whose lock"),
        sentences=sentences,
        tables=(sums, lines),
        notes=(HOW,) if profiles else (),
        terminal=sentences,
    )


def profiles_of(run: Run) -> list[Profile]:
    """Return the profiles of locks that saw something."""
    return [one for one in run.profiles if one.get("kind") == "locks" and "contended" in one]


def stops_per_request(profile: Profile) -> float:
    """Return how often a request stops all threads."""
    return float(profile["stops"] / max(1, profile["requests"]))


def share_of_time(profile: Profile, name: str) -> float:
    """Return the share of the time of requests that *name*, such as waiting_ns, takes."""
    return float(min(1.0, profile[name] / max(1, profile["in_flight_ns"])))


def _sentence(profile: Profile, view: View) -> Message:
    """Return what was seen, and whether that may be the reason of anything."""
    said = view.settings.profiled(profile)
    if "contended" not in profile:
        return said
    owners = [line["owner"] for line in profile["contended"]]
    more = bound_of_lock(view.run, view.rows, profile, share_of_time(profile, "waiting_ns"), owners).little
    remark = message("Without waiting for locks, throughput would gain at most {more}.", more=more)
    return listed([said, remark], SENTENCES) if more else said


def _lines(profile: Profile) -> list[Profile]:
    """Return the lines that stop all threads, or wait for a lock, for most of the time."""
    waits = [{**line, "lock": Message.from_json(line["lock"])} for line in profile["contended"]]
    stops = [{**line, "lock": message("a stop of all threads")} for line in profile["stopping"]]
    lines = sorted([*stops, *waits], key=itemgetter("share"), reverse=True)[:MOST_LINES]
    return [{"stack": [], **line, "runtime": profile["runtime"]} for line in lines]


def _callers(stack: Sequence[Profile]) -> list[Profile]:
    return [frame for frame in stack if frame["file"] != stack[0]["file"]]


def _place(frames: Sequence[Profile], otherwise: Message) -> Message:
    return message("{file}:{line} in {function}", **frames[0]) if frames else otherwise
