"""Show the results of `--profile locks`: contended mutexes by object type and line, and
stop-the-world pauses.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
Profiles are dictionaries with the keys of LocksProfile in record/result_parts.py.
"""

from collections.abc import Sequence
from operator import itemgetter

from analysis.causes import Profile, lock_profiles, share_of_time, stops_per_request
from analysis.formats import hundredths, percent
from core.messages import NOTHING, Message, message, verbatim
from reports.document import ABSENT, Section, Table
from reports.tables import Col, arm_col, col, frame_text, table
from reports.view import View

PLACE = 23  # in the order of sections (reports/sections/__init__.py)
MOST_LINES = 8  # of a profile, in the table of lines
HOW = message(
    "The figures on locks come from extra measurements, which no other figure includes. Shares are "
    "parts of the total time that requests took. Samples of the Python stacks of waiting threads "
    "show how much of the time each line of code waits. The share of CPU time for reference "
    "counting is a lower bound, because most of the counting is inlined and cannot be measured."
)


def section(view: View) -> Section:
    """Return the report's section on contended locks: totals per lock profile, and the lines of
    code that wait.
    """
    sentences = [
        view.settings.profiled(profile)
        for profile in view.run.profiles
        if profile.get("kind") == "locks"
    ]
    profiles = lock_profiles(view.run)
    runtime: Col[Profile] = arm_col("runtime", view.looks)
    lines = table(
        message("Lines of code that wait, and the locks that they wait for"),
        [
            runtime,
            col("Lock", "lock"),
            col("Line", lambda line: frame_text(line["stack"], message("outside of Python"))),
            col("Called from", lambda line: frame_text(_callers(line["stack"]), verbatim(ABSENT))),
            col("share of request time", "share", percent),
        ],
        [(NOTHING, _lines(profile)) for profile in profiles],
    )
    return Section(
        "locks",
        message("Contended locks"),
        sentences=sentences,
        tables=(_sums_table(profiles, runtime), lines),
        notes=(HOW,) if profiles else (),
        terminal=sentences,
    )


def _sums_table(profiles: Sequence[Profile], runtime: Col[Profile]) -> Table:
    return table(
        message("Locks and stop-the-world pauses"),
        [
            runtime,
            col("System", "system"),
            col("stop-the-world pauses per request", stops_per_request, hundredths),
            col(
                "share of time in stop-the-world pauses",
                lambda one: share_of_time(one, "stopping_ns"),
                percent,
            ),
            col(
                "share of time waiting for contended locks",
                lambda one: share_of_time(one, "waiting_ns"),
                percent,
            ),
            col(
                "share of CPU time for counting references to shared objects",
                "count_share",
                percent,
            ),
        ],
        [(NOTHING, profiles)],
    )


def _lines(profile: Profile) -> list[Profile]:
    """Return the lines of code that wait for a lock or pause all threads, the longest
    times first.
    """
    waits = [{**line, "lock": Message.from_json(line["lock"])} for line in profile["contended"]]
    stops = [{**line, "lock": message("a stop-the-world pause")} for line in profile["stopping"]]
    lines = sorted([*stops, *waits], key=itemgetter("share"), reverse=True)[:MOST_LINES]
    # The key stack may be absent. Without frames, an entry is shown as outside of Python.
    return [{"stack": [], **line, "runtime": profile["runtime"]} for line in lines]


def _callers(stack: Sequence[Profile]) -> list[Profile]:
    """Return the frames of a stack that are in other files than its innermost frame."""
    return [frame for frame in stack if frame["file"] != stack[0]["file"]]
