"""Lines that wait: what a service's threads do, and where they wait for a lock, by `--profile python`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.messages import Message, listed, message, verbatim
from reports.document.model import Flame, Line, Section, Table, arm, columns, estimate, groups, number, words
from reports.document.values import hundredths, percent, whole, whole_percent
from reports.facts.bounds import Bound, bound_of_lock
from reports.facts.waits import Change, Profile, Wait, changes, lines, place_of, settings, waits
from reports.view import View

PLACE = 82
MOST_SENTENCES = 5
MOST_LINES = 12
STATES = {
    "run": message("run"),
    "ready": message("ready, no core"),
    "gil": message("GIL"),
    "lock": message("lock"),
    "io": message("I/O"),
}
RUNTIME = message("Runtime")


def section(view: View) -> Section:
    """What each setting's threads wait for, line by line, and how that differs between its runtimes."""
    profiled = settings(view.run)
    sentences = tuple(sentence for profiles in profiled for sentence in _sentences(profiles, view))
    return Section(
        key="waits",
        title=message("Lines that wait"),
        sentences=(*sentences, *_not_profiled(view)),
        tables=(_states(profiled, view), _lines(profiled, view)) if profiled else (),
        flames=tuple(flame for number, profiles in enumerate(profiled) for flame in _flames(profiles, number, view)),
        notes=(_how(profiled),) if profiled else (),
        terminal=(*sentences, *_not_profiled(view), *((_states(profiled, view),) if profiled else ())),
    )


def _not_profiled(view: View) -> list[Message]:
    return [
        view.settings.profiled(profile)
        for profile in view.run.profiles
        if profile.get("kind") == "python" and "lines" not in profile
    ]


def _sentences(profiles: Sequence[Profile], view: View) -> Iterator[Message]:
    changed = changes(profiles, view.run)[:MOST_SENTENCES]
    told = {(change.wait.runtime, change.wait.function, change.wait.place) for change in changed}
    waiting = [wait for profile in profiles for wait in waits(profile, lines(profiles))[:1]]
    others: dict[tuple[str, str], list[Wait]] = {}
    for wait in waiting:
        if (wait.runtime, wait.function, wait.place) not in told:
            others.setdefault((wait.function, wait.place), []).append(wait)
    if not changed and not others:
        yield message("No line is shown to wait for a lock.")
    told_of = [
        *((change.wait, _change(change)) for change in changed),
        *((of[0], _waits(of)) for of in others.values()),
    ]
    bounds = [(said, _bound(wait, profiles, view)) for wait, said in told_of]
    yield from (said for said, gain in bounds if not gain.is_little)
    for said, gain in bounds:
        if gain.is_little and gain.throughput:
            yield message(
                "{said} Without that, throughput would gain at most {more}.",
                said=said, more=estimate(gain.throughput, percent),
            )  # fmt: skip


def _bound(wait: Wait, profiles: Sequence[Profile], view: View) -> Bound:
    profile = next(one for one in profiles if one["runtime"] == wait.runtime)
    return bound_of_lock(view.run, view.rows, profile, min(1.0, wait.share.high))


def _change(change: Change) -> Message:
    return message(
        "Under {runtime}, {share} of the threads' time at work is spent waiting for a lock at {line}; under {other}, "
        "{other_share}. Difference: {by}.",
        runtime=change.wait.runtime,
        line=_named(change.wait),
        share=whole_percent(change.wait.share.value),
        other=change.other,
        other_share=whole_percent(change.other_share),
        by=estimate(change.by, whole_percent),
    )


def _waits(same: Sequence[Wait]) -> Message:
    """The same line under one runtime or several."""
    shares = [
        message("{share} under {runtime}", share=estimate(wait.share, whole_percent), runtime=wait.runtime)
        for wait in same
    ]
    return message(
        "The most waiting for a lock, of the threads' time at work, is at {line}: {shares}.",
        line=_named(same[0]),
        shares=listed(shares),
    )


def _named(wait: Wait) -> Message:
    if not wait.caller:
        return verbatim(f"{wait.function} ({wait.place})")
    return message(
        "{function} ({place}), called from {caller}", function=wait.function, place=wait.place, caller=wait.caller
    )


def _how(profiled: Sequence[Sequence[Profile]]) -> Message:
    profiles = [profile for of_setting in profiled for profile in of_setting]
    return message(
        "From one more cell of each, in no other figure: stacks and states of all threads of the services' Python "
        "processes, {rate_hz} times a second, read by {readers}. It used up to {cores} cores. Shares are of the time "
        "at work: all but that of threads parked for work. A line is named where the 95 % interval of its share, for "
        "all lines together, is above 2 %. The folder profiles/ has the stacks, collapsed and for speedscope.",
        rate_hz=profiles[0]["rate_hz"],
        readers=verbatim(", ".join(dict.fromkeys(profile["reader"] for profile in profiles))),
        cores=hundredths(max(profile["sampler_cores"] for profile in profiles)),
    )


def _states(profiled: Sequence[Sequence[Profile]], view: View) -> Table:
    heads = (*STATES.values(), message("idle, of all"), message("samples"), message("missed"))
    return Table(
        name=message("What threads do at work"),
        columns=columns((RUNTIME,), heads),
        groups=groups((_setting(mine, view), (_state_line(profile, view) for profile in mine)) for mine in profiled),
    )


def _state_line(profile: Profile, view: View) -> Line:
    return (
        arm(profile["runtime"], view.looks.get(profile["runtime"])),
        *(number(profile["states"].get(state, 0.0), whole_percent) for state in STATES),
        number(profile["idle_share"], whole_percent),
        number(profile["samples"], whole),
        number(profile["missed_share"], whole_percent),
    )


def _setting(profiles: Sequence[Profile], view: View) -> Message:
    return view.settings.name(profiles[0]["system"], profiles[0]["params"])


def _lines(profiled: Sequence[Sequence[Profile]], view: View) -> Table:
    heads = (RUNTIME, message("Function"), message("Line"), message("Called from"))
    return Table(
        name=message("Lines by their waits"),
        columns=columns(heads, STATES.values()),
        groups=groups(
            (_setting(mine, view), (_line(each, line, view) for each in mine for line in each["lines"][:MOST_LINES]))
            for mine in profiled
        ),
        folded=True,
    )


def _line(profile: Profile, line: Mapping[str, Any], view: View) -> Line:
    place = verbatim(place_of(line["file"], line["line"])) if line["file"] else message("over before it was read")
    return (
        arm(profile["runtime"], view.looks.get(profile["runtime"])),
        words(line["function"]),
        words(place),
        words(line.get("caller", "")),
        *(number(line["states"].get(state, 0.0), whole_percent) for state in STATES),
    )


def _flames(profiles: Sequence[Profile], setting: int, view: View) -> Iterator[Flame]:
    """The stacks under the last runtime, and how they differ from those under the one before."""
    known = [profile for profile in profiles if "tree" in profile]
    if not known:
        return
    last, before = known[-1], known[-2] if known[1:] else None
    title = _setting(profiles, view)
    yield Flame(
        key=f"flame-{setting}",
        title=message("Stacks at work under {runtime}, {setting}", runtime=last["runtime"], setting=title),
        caption=message("Wide: much time. The innermost cell is what the thread did. Click to zoom."),
        tree=last["tree"],
    )
    if before:
        yield Flame(
            key=f"flame-difference-{setting}",
            title=message(
                "{runtime} less {other}, {setting}", runtime=last["runtime"], other=before["runtime"], setting=title
            ),
            caption=message(
                "The stacks under {runtime}; red where their share of the time at work is greater than under {other}, "
                "blue where it is less.",
                runtime=last["runtime"],
                other=before["runtime"],
            ),
            tree=_with_delta(last["tree"], before["tree"], last["tree"]["value"], before["tree"]["value"]),
            is_difference=True,
        )


def _with_delta(tree: Mapping[str, Any], other: Mapping[str, Any], total: int, other_total: int) -> dict[str, Any]:
    """*tree* with the difference of each part's share."""
    others = {child["name"]: child for child in other.get("children", ())}
    delta = tree["value"] / max(1, total) - other.get("value", 0) / max(1, other_total)
    children = [
        _with_delta(child, others.get(child["name"], {}), total, other_total) for child in tree.get("children", ())
    ]
    return {"name": tree["name"], "value": tree["value"], "delta": round(delta, 4), "children": children}
