"""The section "Lines of code that wait": where a service's threads wait for locks, from `--profile
python`.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
Profiles are dictionaries with the keys of PythonProfile in record/result_parts.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from analysis.causes import (
    LOCK,
    Profile,
    WaitChange,
    WaitingLine,
    changes,
    place_of,
    python_profiles,
    waits,
)
from analysis.cell_index import grouped
from analysis.formats import hundredths, whole, whole_percent
from analysis.settings import setting_of
from core.messages import Message, listed, message, verbatim
from reports.document import Flame, Section, Table, estimate
from reports.tables import Col, arm_col, col, table
from reports.view import View

PLACE = 22  # in the order of sections (reports/sections/__init__.py)
MUCH = 0.1  # of the threads' time at work, which gets a sentence
MOST_SENTENCES = 5  # on changes between runtimes, for a setting
MOST_LINES = 12  # of a profile, in the table of lines
STATES = {  # of a thread at work, by their keys in a profile (record/result_parts.py)
    "run": message("running on a core"),
    "ready": message("runnable, no core"),
    "gil": message("GIL"),
    LOCK: message("lock wait"),
    "io": message("I/O wait"),
}

Named = Sequence[tuple[Message, Sequence[Profile]]]  # the profiles of each setting, by its name


def section(view: View) -> Section:
    """Return the report's section on what threads wait for, by line of code and runtime."""
    profiled = python_profiles(view.run)
    found = [
        sentence
        for profiles in profiled
        for sentence in _sentences(profiles, view.settings.where(setting_of(profiles[0])))
    ]
    if profiled and not found:
        found = [message("No line of code waits significantly for a lock.")]
    sentences = (
        *found,
        *(
            view.settings.profiled(profile)
            for profile in view.run.profiles
            if profile.get("kind") == "python" and "lines" not in profile
        ),
    )
    named = [(view.settings.name(setting_of(mine[0])), mine) for mine in profiled]
    states = _states_table(named, view)
    return Section(
        "waits",
        message("Lines of code that wait"),
        sentences=sentences,
        tables=(states, _lines_table(named, view)),
        flames=[
            flame
            for number, (head, mine) in enumerate(named)
            for flame in _flames(mine, number, head)
        ],
        notes=[*_notes(profiled)],
        terminal=(*sentences, *[states] * bool(profiled)),
    )


def _states_table(named: Named, view: View) -> Table:
    return table(
        message("What threads do while they are not idle"),
        [
            arm_col("runtime", view.looks),
            *map(_share_col, STATES),
            col("idle [share of all time]", "idle_share", whole_percent),
            col("samples", "samples", whole),
            col("missed samples", "missed_share", whole_percent),
        ],
        named,
    )


def _lines_table(named: Named, view: View) -> Table:
    return table(
        message("Lines of code by time spent waiting"),
        [
            arm_col("runtime", view.looks),
            col("Function", "function"),
            col(
                "Line",
                lambda line: (
                    place_of(line) or message("line unknown, because the wait ended too soon")
                ),
            ),
            col("Called from", lambda line: str(line.get("caller", ""))),
            *map(_share_col, STATES),
        ],
        [(head, _first_lines(mine)) for head, mine in named],
        folded=True,
    )


def _first_lines(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the first lines of each profile, with its runtime."""
    return [
        {**line, "runtime": one["runtime"]}
        for one in profiles
        for line in one["lines"][:MOST_LINES]
    ]


def _share_col(state: str) -> Col[Profile]:
    return col(STATES[state], lambda item: float(item["states"].get(state, 0.0)), whole_percent)


def _sentences(profiles: Sequence[Profile], setting: Message) -> Iterator[Message]:
    """Yield sentences on lines of code that wait for locks at a setting: changes between runtimes,
    then the longest waits. If there are none, how long threads wait for locks, if this is much.
    """
    changed = changes(profiles)[:MOST_SENTENCES]
    # [:3] is runtime, function and place: a line in a change gets no second sentence.
    named = {change.wait[:3] for change in changed}
    most = (wait for profile in profiles for wait in waits(profile, profiles)[:1])
    others = (wait for wait in most if wait[:3] not in named)
    longest = grouped(others, attrgetter("function", "place")).values()
    for profile in profiles if not changed and not longest else ():
        share = sum(profile["states"].get(state, 0.0) for state in ("lock", "gil"))
        if share >= MUCH:
            yield message(
                "{runtime}, {setting}: threads wait for locks for {share} of their time at work, "
                "but no single line of code waits for a significant part of it.",
                runtime=profile["runtime"],
                setting=setting,
                share=whole_percent(share),
            )
    yield from map(_change_sentence, changed)
    yield from map(_line_sentence, longest)


def _change_sentence(change: WaitChange) -> Message:
    return message(
        "Under {runtime}, threads that are not idle spend {share} of their time waiting for a lock "
        "at {line}. Under {other}, the share is {other_share}. Difference: {by}.",
        runtime=change.wait.runtime,
        line=_line_text(change.wait),
        share=whole_percent(change.wait.share.value),
        other=change.other,
        other_share=whole_percent(change.other_share),
        by=estimate(change.by, whole_percent),
    )


def _line_sentence(same: Sequence[WaitingLine]) -> Message:
    """Return a sentence on one line of code, with the share of time that it waits for a lock under
    each runtime.
    """
    shares = [
        message(
            "{share} under {runtime}",
            share=estimate(wait.share, whole_percent),
            runtime=wait.runtime,
        )
        for wait in same
    ]
    return message(
        "Threads wait longest for a lock at {line}. Shares of their time at work: {shares}.",
        line=_line_text(same[0]),
        shares=listed(shares),
    )


def _line_text(wait: WaitingLine) -> Message:
    if not wait.caller:
        return verbatim(f"{wait.function} ({wait.place})")
    return message(
        "{function} ({place}), called from {caller}",
        function=wait.function,
        place=wait.place,
        caller=wait.caller,
    )


def _notes(profiled: Iterable[Iterable[Profile]]) -> Iterator[Message]:
    profiles = [profile for of_setting in profiled for profile in of_setting]
    if profiles:
        yield message(
            "The figures come from one extra measurement per runtime and setting, which no other "
            "figure includes. A profiler read the call stack and state of every thread of the "
            "services' Python processes, {rate_hz} times a second. The profiler used up to {cores} "
            "cores. Shares are parts of the threads' time at work, which excludes threads parked "
            "until work arrives. The report names a line of code if the 95 % interval of the "
            "line's share, adjusted for all lines, is above 2 %. The folder profiles/ has the call "
            "stacks in the collapsed format.",
            rate_hz=profiles[0]["rate_hz"],
            cores=hundredths(max(profile["sampler_cores"] for profile in profiles)),
        )


def _flames(profiles: Sequence[Profile], number: int, setting: Message) -> Iterator[Flame]:
    """Yield a flame graph of the last runtime, and one of the differences from the previous
    runtime.
    """
    # None stands for a runtime that was not profiled.
    before, last = ([None, None, *(profile for profile in profiles if "tree" in profile)])[-2:]
    if last:
        yield Flame(
            key=f"flame-{number}",
            title=message(
                "Call stacks of threads at work under {runtime}, {setting}",
                runtime=last["runtime"],
                setting=setting,
            ),
            caption=message(
                "The width of a box shows its share of time. The innermost box of a stack shows "
                "the state of the thread. Click a box to zoom."
            ),
            tree=last["tree"],
        )
    if last and before:
        names = {"runtime": last["runtime"], "other": before["runtime"]}
        yield Flame(
            key=f"flame-difference-{number}",
            title=message(
                "Call stacks under {runtime} compared with {other}, {setting}",
                **names,
                setting=setting,
            ),
            caption=message(
                "Call stacks under {runtime}. Red boxes take a greater share of the time at work "
                "than under {other}. Blue boxes take a smaller share.",
                **names,
            ),
            tree=_with_delta(
                last["tree"], before["tree"], last["tree"]["value"], before["tree"]["value"]
            ),
            is_difference=True,
        )


def _with_delta(tree: Profile, other: Profile, *totals: int) -> dict[str, Any]:
    """Return a flame graph's *tree* with a delta per frame: the share of time minus the share in
    *other*.

    totals: samples in the root of each graph
    A frame that *tree* does not have is left out, even if *other* has it.
    """
    others = {child["name"]: child for child in other.get("children", ())}
    total, other_total = (max(1, samples) for samples in totals)
    delta = tree["value"] / total - other.get("value", 0) / other_total
    children = [
        _with_delta(child, others.get(child["name"], {}), *totals)
        for child in tree.get("children", ())
    ]
    return {
        "name": tree["name"],
        "value": tree["value"],
        "delta": round(delta, 4),
        "children": children,
    }
