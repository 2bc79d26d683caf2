"""Make the report's section about what costs time: contended locks, pauses, garbage collections,
waiting threads.

Each row has the most that could be gained without this cost, and a link to the paragraph of
docs/why.md about it.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
Profiles are dictionaries with the keys of record/result_parts.py. analysis/causes.py bounds the
gain.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from analysis.causes import (
    LEAST_GAIN,
    Profile,
    bound,
    bound_of_lock,
    gain_words,
    lock_profiles,
    place_of,
    python_profiles,
    row_of,
    share_of_time,
    stops_per_request,
    waits,
)
from analysis.causes import LOCKS as LOCK_TYPES
from analysis.formats import milliseconds, percent, tenths, whole_percent
from analysis.pause_shares import COLLECTION, pauses
from analysis.settings import setting_of
from core.messages import NOTHING, SENTENCES, Message, chained, listed, message
from record.comparison import Setting
from reports.document import Section
from reports.tables import PAGES, Col, col, frame_text, table
from reports.view import View

PLACE = 24  # in the order of sections (reports/sections/__init__.py)
MOST_LINES = 3  # of a profile of `--profile python`
LEAST_SAMPLES = 20  # of a line or cause in a profile of locks; fewer are too uncertain
NOTABLE_SHARE = 0.02  # of time; the gain of removing a smaller share cannot be measured
# share of a process's time; from here on, collections are a cause even if they delay no requests
MUCH_COLLECTING = 0.05
OFTEN = 0.5  # pauses per request; garbage collections alone pause threads far less often
NOTE = message(
    "The gain is an upper bound on the throughput that eliminating this time alone can add. It is "
    "limited by the idle cores, and by the share of this time in a request's time. If threads also "
    "share less data afterwards, the gain can be larger. The bound is as exact as the measured "
    "share. The named page says what may help."
)
LOCKS = "docs/why.md#contended-locks"  # a paragraph, see Cause.page
OF_FILES = {  # by the start of a file's name; nothing helps against the lock of a thread pool
    "asyncio/": "docs/why.md#event-loops",
    "logging/": "docs/why.md#logging",
    "concurrent/futures/": "",
}
OF_OWNERS = {  # by the type of the object with the lock; - and ?: unknown
    **dict.fromkeys(("", "-", "?", "_queue.SimpleQueue"), ""),
    **dict.fromkeys(LOCK_TYPES, "docs/why.md#python-locks"),
}
WRAPPERS = "threading.py", "queue.py"  # files whose frames hide who uses the lock
OF_OBJECTS, OF_EXTENSIONS = "docs/why.md#locks-of-objects", "docs/why.md#mutexes-of-extensions"
INTERPRETER = re.compile(r"\[(lib)?python")  # an owner that is a file of Python itself


class Cause(NamedTuple):
    """A cause of lost time in a measured service.

    page: the paragraph that says what may help; empty if none does
    gain: how much throughput can rise at most if only this time is saved, as a share; None if
        unknown
    """

    found: Message
    page: str
    gain: float | None = None


def section(view: View) -> Section:
    """Return the section on causes of lost time. It is empty if the run found none.

    Causes whose removal could gain little come last.
    """
    # gain_words() is empty, and sorted first, if the gain is unknown, or LEAST_GAIN or more.
    found = sorted(causes(view), key=lambda one: bool(gain_words(one.gain, LEAST_GAIN)))
    title = message("Causes of lost time")
    where = [PAGES] * any(one.page for one in found)
    cols: list[Col[Cause]] = [
        col("Finding", "found"),
        col("maximum throughput gain if only this time is saved", "gain", percent),
        col("What may help", "page"),
    ]
    return Section(
        "lost-time",
        title,
        tables=(table(title, cols, [(NOTHING, found)]),),
        notes=(NOTE, *where),
        terminal=[*map(_sentence, found), *where],
    )


def _sentence(one: Cause) -> Message:
    """Return a cause as text, with its largest possible gain and the page that says
    what may help.
    """
    helps = message("What may help: {page}.", page=one.page) if one.page else NOTHING
    return chained([message("{found}.", found=one.found), gain_words(one.gain), helps], SENTENCES)


def causes(view: View) -> list[Cause]:
    """Return the causes of lost time in a run's measurements and profiles that take a notable share
    of the time. `--profile locks` finds contended locks, stop-the-world pauses and shared reference
    counts.
    """
    found = [*_collecting(view), *_waiting(view)]
    for profile in lock_profiles(view.run):
        found += [*_contended(profile, view), *_stops(profile, view)]
        found += _shared_counts(profile, view)
    return found


def _collecting(view: View) -> Iterator[Cause]:
    """Yield a cause per runtime and setting: the share of time in garbage collections, and the
    longest collection.
    """
    for each in chain.from_iterable(map(pauses, view.groups)):
        if COLLECTION in each.findings or each.share >= MUCH_COLLECTING:
            found = message(
                "{runtime}: garbage collections take {share} of the time, and up to {longest} ms "
                "each",
                runtime=_named(each.row.runtime, each.row, view),
                share=percent(each.share),
                longest=milliseconds(each.longest_ns),
            )
            # None: the CPU time of collections is unknown
            gain = bound(each.row, view.run, each.share, None)
            yield Cause(found, "docs/why.md#garbage-collections", gain)


def _waiting(view: View) -> Iterator[Cause]:
    """Yield the source lines at which threads wait longest for a lock, as measured by `--profile
    python`, without those whose lock or pause `--profile locks` knows.
    """
    for profiles in python_profiles(view.run):
        for profile in profiles:
            known = _known_places(profile, view)
            for wait in waits(profile, profiles)[:MOST_LINES]:
                if wait.place in known:
                    continue
                found = message(
                    "{runtime}: threads wait for a lock at {place} for {share} of the time",
                    runtime=_named(wait.runtime, setting_of(profile), view),
                    place=f"{wait.place} in {wait.function}",
                    share=percent(wait.share.value),
                )
                gain = bound_of_lock(view.run, view.rows, profile, min(1.0, wait.share.high))
                yield Cause(found, _page_of_file(wait.file, LOCKS), gain)


def _known_places(profile: Profile, view: View) -> set[str]:
    """Return the lines that the findings of `--profile locks` on the same processes are about."""
    found: list[Profile] = []
    for other in lock_profiles(view.run):
        if all(other.get(key) == profile.get(key) for key in ("system", "params", "runtime")):
            found += [*_notable(other), *_stopping(other)]
    return {place_of(line["stack"][0]) for line in found if line.get("stack")}


def _named(runtime: str, of: Setting, view: View) -> Message | str:
    """Return a runtime, with what distinguishes the setting if the run has several."""
    several = len({row.system for row in view.rows}) > 1
    where = view.settings.where(of) if several else view.settings.values(of)
    return listed([runtime, where]) if where and len(view.groups) > 1 else runtime


def _notable(profile: Profile) -> list[Profile]:
    """Return the contended locks of a profile that threads wait for in a notable share of time."""
    return [line for line in _sampled(profile["contended"]) if line["share"] >= NOTABLE_SHARE]


def _stopping(profile: Profile) -> list[Profile]:
    """Return the lines of a profile that stop the world, if that is notable and frequent."""
    if share_of_time(profile, "stopping_ns") < NOTABLE_SHARE or stops_per_request(profile) < OFTEN:
        return []
    return _sampled(profile["stopping"])


def _contended(profile: Profile, view: View) -> Iterator[Cause]:
    for line in _notable(profile):
        found = message(
            "{runtime}: threads wait for {lock} at {place} for {share} of the time",
            runtime=_named(profile["runtime"], setting_of(profile), view),
            lock=Message.from_json(line["lock"]),
            place=_place(line),
            share=percent(line["share"]),
        )
        gain = bound_of_lock(view.run, view.rows, profile, line["share"], [line["owner"]])
        yield Cause(found, _page_of_file(_file(line), _page_of_owner(line["owner"])), gain)


def _stops(profile: Profile, view: View) -> Iterator[Cause]:
    """Yield the stop-the-world pauses of a profile. All are one cause, which names the line with
    the longest time.
    """
    share = share_of_time(profile, "stopping_ns")
    for line in _stopping(profile)[:1]:
        stood = profile["stood_ns"] / max(1, profile["watched_ns"])
        found = message(
            "{runtime}: each request causes {times} stop-the-world pauses, {of_these} of "
            "them at {place}. Threads spend {share} of the requests' time on pausing, "
            "and stand still for another {stood}",
            runtime=_named(profile["runtime"], setting_of(profile), view),
            times=tenths(stops_per_request(profile)),
            of_these=whole_percent(line["share"] / share),
            place=_place(line),
            share=percent(share),
            stood=percent(stood),
        )
        page = _page_of_file(_file(line), "docs/why.md#stop-the-world-pauses")
        gain = bound(row_of(view.rows, profile), view.run, min(1.0, share + stood), None)
        yield Cause(found, page, gain)


def _shared_counts(profile: Profile, view: View) -> Iterator[Cause]:
    counted = profile["count_share"]  # a lower bound, so the possible gain is unknown
    if counted >= NOTABLE_SHARE and profile["cpu_samples"] * counted >= LEAST_SAMPLES:
        found = message(
            "{runtime}: counting references to shared objects takes at least {share} of CPU time",
            runtime=_named(profile["runtime"], setting_of(profile), view),
            share=percent(counted),
        )
        yield Cause(found, "docs/why.md#reference-counts")


def _page_of_file(file: str, otherwise: str) -> str:
    """Return the paragraph about a module of the standard library that causes lost time, or else
    *otherwise*.
    """
    return next((page for start, page in OF_FILES.items() if file.startswith(start)), otherwise)


def _page_of_owner(owner: str) -> str:
    """Return the paragraph about a contended lock, by the owner of its mutex as a lock profile
    names it.
    """
    if owner.startswith("["):
        return "" if INTERPRETER.match(owner) else OF_EXTENSIONS
    return OF_OWNERS.get(owner, OF_OBJECTS)


def _file(line: Profile) -> str:
    """Return the file of the innermost frame of an entry of a lock profile, outside of WRAPPERS;
    empty if unknown.
    """
    return next(
        (str(frame["file"]) for frame in line.get("stack", ()) if frame["file"] not in WRAPPERS), ""
    )


def _sampled(lines: Sequence[Profile]) -> list[Profile]:
    """Return the lines of a lock profile that have enough samples to be reported."""
    return [line for line in lines if line["samples"] >= LEAST_SAMPLES]


def _place(line: Profile) -> Message:
    """Return where in Python code an entry of a lock profile waited: file, line and function."""
    return frame_text(line.get("stack", ()), message("an unknown line"))
