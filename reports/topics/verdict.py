"""The section "Verdict" of a report, for the page and for the terminal.

The page shows the headline, differences between settings, and reasons for missing verdicts. The terminal shows what a
run prints at its end: its result, and what to do next.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import log
from operator import attrgetter
from typing import Any

from core.messages import (
    AND,
    COMMA,
    NOTHING,
    SEMICOLON,
    SENTENCES,
    Arg,
    Message,
    chained,
    listed,
    message,
    plural,
    verbatim,
)
from core.user_service import UserService
from reports.document.model import ABSENT, COUNT, Datum, Section, Strip, Table, plain_table, traced, words
from reports.document.shapes import Col, arm_col, col, table
from reports.document.values import latency_unit, ratio, whole, whole_percent
from reports.facts.cells import Row, grouped, runtimes, together
from reports.facts.commands import command_line, more_blocks_command
from reports.facts.comparisons import AT_RATE_TAILS, DIFFERENT, Comparison, answering, confounds_of
from reports.facts.figures import MORE, pooled
from reports.facts.gates import MOST_IN_USE, MOST_SATURATION, background, disturbances
from reports.facts.measures import THROUGHPUT
from reports.facts.others import MOST_BUSY, on_busy
from reports.facts.pairs import SIDES
from reports.facts.steps import NAMES, steps
from reports.statistics.verdict import WORDS, amount
from reports.topics.comparisons import blocks_to_add, forest, lacks_verdict, more_blocks, ratio_datum, ratio_head
from reports.topics.headline import MAIN, main_comparison, main_headline, opposed_p99, rank, ratio_text, tails_text
from reports.topics.results import BARS, ROOM
from reports.topics.validity import checks_line
from reports.view import View

PLACE = 10
TITLE = message("Verdict")
MOST_BARS = 8
OPEN = ("inconclusive", "invalid")
MOST_LINES = 12  # lines in the table of several settings, including the lines that name the settings
MOST_CONFOUNDS = 2
# The headline is about the first of these steps that was measured.
EFFECTS = {  # what a step does, by verdict
    "faster": message("raises throughput in {systems}"),
    "slower": message("lowers throughput in {systems}"),
    "equivalent": message("hardly changes throughput in {systems}"),
    "inconclusive": message("has an inconclusive effect in {systems}"),
    "invalid": message("has no validly measured effect in {systems}"),
}
EFFECTS_BY_PROCESSES = {  # whether the step removes the GIL, and whether there is only one process
    (True, True): message("With one process, removing the GIL {found}."),
    (True, False): message("With {count} processes, one for each core, removing the GIL {found}."),
    (False, True): message("With one process, moving from {denominator} to {numerator} {found}."),
    (False, False): message(
        "With {count} processes, one for each core, moving from {denominator} to {numerator} {found}."
    ),
}
CLAUSE = message("{start}, and {end}")  # joins the last clause of a sentence
ONLY_ONE = message("Only one runtime was measured, so there is nothing to compare.")
ONE_CORE = message("This run had 1 core, so threads could not run in parallel, with the GIL or without.")
REPEAT = message("Repeat this run on a quiet machine before you rely on the result: {reason}.")
CPU_PER_REQUEST = {  # whether the ratio is 1 or more, which means less CPU time
    True: message("{share} less CPU time per request"),
    False: message("{share} more CPU time per request"),
}
EXAMPLE_PORT = 8000
FROM, GAIN, VERDICT = message("base"), message("throughput"), message("verdict")
LATENCY = message("Latency")
NOISE = message("noise")
Setting = Sequence[Comparison]  # the comparisons of one setting
STEP: Col[Comparison] = col("step", lambda one: NOISE if one.step == "aa" else one.step_name, leads=True)
FROM_TO: Col[Comparison] = col("from → to", lambda one: f"{one.denominator} → {one.numerator}")


def section(view: View) -> Section:
    """Return the report's first section: headline, compared runtimes with intervals, checks, bars and notes."""
    brief = answer(view) if view.compared or not view.plan.view else ()
    if not brief:
        return Section("verdict", TITLE)
    checks = replace(labelled([(message("Checks"), checks_line(view))]), kind="notes")
    notes = [replace(part, kind="notes") for part in brief[-1:] if isinstance(part, Table)]
    return Section(
        "verdict",
        TITLE,
        answer=_headlines(view),
        tables=[*filter(None, [_steps_plot(view), checks, _bars(view), *notes])],
        notes=[*_open_sentences(view)],
        terminal=brief,
    )


def _headlines(view: View) -> list[Message]:
    """Return the headline of the run, as the terminal shows it. With several settings, it may have two sentences."""
    settings = _settings(view.compared)
    cells = together(one.trace for setting in settings for one in setting if one.step != "aa")
    sentences = [traced(sentence, cells) for sentence in gains(view) if len(settings) > 1]
    main = main_comparison(view.compared)
    said = main_headline(view.compared, view.names)
    return sentences or [traced(said, main.trace, "verdict") if main else ONLY_ONE]


# ---- the headline ----------------------------------------------------------------------------------------------------


def _settings(compared: Iterable[Comparison]) -> list[list[Comparison]]:
    """Return those of *compared* that are about a single setting, as one list for each setting."""
    return [*grouped((one for one in compared if not one.is_over_all), attrgetter("key")).values()]


def _measured(view: View) -> list[Comparison]:
    """Return the measured comparisons of two runtimes in one setting, without means over all settings."""
    return [one for one in view.comparisons if not one.is_over_all and (one.ratio or one.verdict == "invalid")]


def gains(view: View) -> list[Message]:
    """Return sentences on the effect of removing the GIL: with one process, and with one process for each core.

    If no step removes the GIL alone, and there is no mean over the settings, return the effect of the first of MAIN.
    """
    measured, step = _measured(view), "lock"
    if measured and all(not one.is_over_all for one in view.comparisons):
        step = min((one.step for one in measured), key=("lock", *MAIN).index)
    judged = [one for one in measured if one.step == step and one.verdict in EFFECTS]
    sentences = []
    for count in dict.fromkeys((1, view.machine.available_cores)):
        some = [one for one in judged if one.params.get("NUM_API_SERVICES") == count]
        named = [
            (one.verdict, message("{system} ({ratio})", system=view.settings.number(one.system), ratio=ratio_text(one)))
            for one in some
        ]
        clauses = [
            replace(template, args={"systems": listed(systems, COMMA, AND)})
            for verdict, template in EFFECTS.items()
            if (systems := [name for word, name in named if word == verdict])
        ]
        if clauses and len({one.system for one in some}) == len(some):
            args: dict[str, Arg] = {"count": count, "found": listed(clauses, SEMICOLON, CLAUSE)}
            if step != "lock":
                args |= {"denominator": some[0].denominator, "numerator": some[0].numerator}
            said = replace(EFFECTS_BY_PROCESSES[step == "lock", count == 1], args=args)
            is_busy = any((one.others or 0.0) > MOST_BUSY for one in some)
            sentences.append(message("On a busy machine: {said}", said=said) if is_busy else said)
    return sentences


# ---- the terminal ----------------------------------------------------------------------------------------------------


def answer(view: View) -> list[Message | Table]:
    """Return the sentences and tables that a run prints at its end: its result, and what to do next.

    with_page() adds the path of the report's HTML page.
    """
    compared = _measured(view)
    if not compared:
        return [ONLY_ONE]
    said = main_headline(view.compared, view.names)
    settings = _settings(compared)
    main = min(compared, key=rank)
    body: list[Message | Table]
    if len(settings) == 1:
        body, why = [said, _steps_table(compared)], made_of(main)
        latency = [_latency(main, view), *_opposed((one for one in compared if one is not main), view)]
    else:
        names = {"lock", "whole"} & {one.step for one in compared} or {main.step}
        chosen = [one for one in compared if one.step in names]
        body, why = [*(gains(view) or [said] * bool(said)), *_systems(settings, chosen, view)], NOTHING
        latency = _opposed(chosen, view)
    arms = message("{denominator} → {numerator}:", denominator=main.denominator, numerator=main.numerator)
    disturbed = disturbances(view.run.cells)
    is_busy = view.others is None or view.others.is_busy  # None: the CPU time of other processes is unknown
    notes = (
        (message("Why"), why),
        (LATENCY, chained(latency, SENTENCES)),
        (message("Program"), view.beside),
        (message("Caution"), _caution(compared, [] if is_busy else disturbed, view)),
        *((message("Missing"), text) for text in _missing(view)),
        (message("Next"), _next(view)),
    )
    return [
        *[ONE_CORE] * (view.machine.available_cores == 1),
        *(message("{reason}.", reason=one) for one in background(view.run.cells)),
        *(replace(REPEAT, args={"reason": one}) for one in disturbed if is_busy),
        *body,
        *[arms] * bool(len(settings) == 1 and (why or latency[0])),
        labelled(note for note in notes if note[1]),
    ]


def _steps_table(compared: Sequence[Comparison]) -> Table:
    """Return a table with a line for each comparison of two runtimes in one setting."""
    results = [col(GAIN, ratio_text), col(VERDICT, _verdict)]
    if compared[0].is_at_rate:
        results = [col("latency", tails_text)]
    cols = [STEP, FROM_TO, *results]
    name = message("Comparisons of runtimes or services")
    return table(name, cols, [(NOTHING, sorted(compared, key=lambda one: one.step == "aa"))])


def _verdict(one: Comparison) -> Datum:
    """Return a comparison's verdict and how many blocks the verdict still needs; nothing if it needs no verdict."""
    word = NOTHING if one.verdict == "unjudged" or lacks_verdict(one) else one.word
    if word and one.verdict == "inconclusive" and one.blocks_needed:
        word = message("{word}: {amount} more blocks", word=word, amount=amount(one.blocks_needed - one.blocks))
    return words(word, state=one.verdict)


def _systems(settings: Sequence[Setting], chosen: Iterable[Comparison], view: View) -> list[Message | Table]:
    """Return a table of throughput ratios with a line for each setting, and how many lines the table leaves out.

    chosen: the comparisons that the table shows
    """

    def values(setting: Setting) -> Message:
        return listed([view.settings.values(setting[0])])

    counts = range(1, len(settings) + 1)
    count = max(count for count in counts if count - 1 + len({*map(values, settings[:count])}) <= MOST_LINES)
    left = len(settings) - count
    cols: list[Col[Setting]] = [col("system", lambda setting: view.settings.number(setting[0].system))]
    for one in {one.step: one for one in chosen}.values():
        cols += _step_cols(one)
    more = plural(
        "{count} more table row is on the report page.", "{count} more table rows are on the report page.", count=left
    )
    return [table(message("Systems"), cols, grouped(settings[:count], values).items()), *[more] * bool(left)]


def _step_cols(like: Comparison) -> list[Col[Setting]]:
    """Return the columns of the step of *like* (a step compares two runtimes): base runtime, ratio and verdict."""
    label = like.label

    def of(read: Callable[[Comparison], Any], absent: str = ABSENT) -> Callable[[Setting], Any]:
        return lambda setting: next((read(one) for one in setting[::-1] if one.step == like.step), absent)

    base = col(FROM, of(attrgetter("denominator")), over=label, rank=1)
    if like.is_at_rate:
        return [base, col("latency", of(tails_text), over=label)]
    return [
        base,
        col(GAIN, of(ratio_text), over=label),
        col(VERDICT, of(lambda one: words(one.word, state=one.verdict), ""), over=label),
    ]


def labelled(lines: Iterable[Sequence[Message | Datum]]) -> Table:
    """Return a table of notes without column heads. Each line has a label and a text."""
    return plain_table(message("Notes"), (NOTHING, NOTHING), lines)


def with_page(section: Section, path: str) -> Section:
    """Return *section* with one more line in the texts for the terminal: the path of the report's HTML page."""
    *before, last = section.terminal or (NOTHING,)
    notes, above = ([*last.lines], before) if isinstance(last, Table) else ([], [*before, last])
    return replace(section, terminal=(*above, labelled([*notes, (message("Page"), verbatim(path))])))


def made_of(one: Comparison) -> Message:
    """Return text on what makes up a throughput ratio: the changes in CPU time per request and in cores in use.

    Return nothing if they are not known.
    """
    if not one.factors:
        return NOTHING
    cpu, cores = (one.factors[name]["ratio"] for name in ("cpu_per_request", "cores_used"))
    spent = replace(CPU_PER_REQUEST[cpu >= 1], args={"share": whole_percent(abs(1 / cpu - 1))})
    return message("{spent} and {ratio}x as many cores in use.", spent=spent, ratio=ratio(cores))


def _latency(one: Comparison, view: View) -> Message:
    """Return the p50 and p99 latency of two compared runtimes as the table of results has them, with their verdicts.

    A percentile that one runtime lacks is left out.
    """
    sides = {row.runtime: row for row in view.rows if one.between_services or row.key == one.key}
    rows = [sides[arm] for arm in (one.denominator, one.numerator) if arm in sides]
    parts = []
    for name in AT_RATE_TAILS:
        known = [(row.figures or {}).get(f"{name}_ns") for row in rows]
        if len(rows) < len(SIDES) or not all(known):
            continue
        unit, form = latency_unit(max(value or 0 for value in known))
        before, after = (form(value or 0) for value in known)
        said = message("{name} {before} → {after} {unit}", name=name, before=before, after=after, unit=unit)
        if name in one.tails:
            word = on_busy(WORDS[one.tails[name]["verdict"]], one.others)
            said = message("{said} ({word})", said=said, word=word)
        elif any(name in pooled(row.good) for row in rows):
            said = message("{said} (pooled over the blocks)", said=said)
        parts.append(said)
    return message("{parts}.", parts=listed(parts)) if parts else NOTHING


def _opposed(compared: Iterable[Comparison], view: View) -> list[Message]:
    """Return a sentence per comparison in which only p99 is worse, or p99 is better although throughput is worse."""
    return [
        message(
            "{denominator} → {numerator}: {p99} in {setting}.", denominator=one.denominator, numerator=one.numerator,
            p99=p99, setting=view.settings.where(one),
        )
        for one in compared if (p99 := opposed_p99(one))
    ]  # fmt: skip


def _caution(compared: Sequence[Comparison], disturbed: Sequence[Message], view: View) -> Message:
    """Return warnings about what makes the ratios less reliable, with remedies.

    disturbed: how the machine was not quiet
    """
    confounds = confounds_of([one for one in compared if one.verdict != "unjudged"])
    noise = max((one.noise_floor for one in compared if one.noise_floor), default=0.0)
    shared = message(
        "Services and clients share {count} cores and use nearly all of them, so the clients also influence the ratio. "
        "Repeat the run with more cores.",
        count=view.machine.available_cores,
    )
    busy = message(
        "The clients used most of the CPU available to them, so the services may be faster than shown. Use "
        "--client-runtime native, or more cores."
    )
    differs = message(
        "The compared runtimes also differ in: {confounds}.", confounds=listed(confounds[:MOST_CONFOUNDS])
    )
    noisy = message(
        "Noise: the interval of the ratio of a runtime to itself (A/A) reaches as far from 1 as {ratio}x.",
        ratio=ratio(1 + noise),
    )
    cautions = [
        shared if any((one.cores_in_use or 0) >= MOST_IN_USE for one in compared) else NOTHING,
        busy if any((one.saturation or 0) > MOST_SATURATION for one in compared) else NOTHING,
        differs if confounds else NOTHING,
        noisy if noise else NOTHING,
        *(message("Disturbances: {reason}.", reason=reason) for reason in disturbed),
    ]
    return chained(cautions, SENTENCES)


def _missing(view: View) -> Iterator[Message]:
    """Yield a sentence for each missing runtime: which comparisons it would add, and how to install it."""
    present, facts = runtimes(view.run), view.run.runtimes
    shown = {step.name for step in steps(present, {}, facts)}
    for name, reason in view.run.missing.items():
        more = {step.name for step in steps([*present, name], {}, facts)} - shown
        added = listed((text for step, text in NAMES.items() if step in more), COMMA, AND)
        text = message(
            "With the runtime {runtime}, the report could also show these comparisons: {added}. {reason}",
            runtime=name,
            added=added,
            reason=reason,
        )
        yield text if more else reason


def _next(view: View) -> Message:
    """Return the command to run next: it measures more blocks for missing verdicts, or else profiles locks.

    If no measurement succeeded, it sends a request to the user's service.
    The lock profile is of the system whose throughput changes most.
    """
    compared = _measured(view)
    if not any(one.ratio for one in compared):
        return _request_by_hand(view)
    if more := blocks_to_add(view.compared):
        return message("To get the missing verdicts: {command}", command=more_blocks_command(view.run, more))
    changed = [one for one in compared if one.verdict in DIFFERENT]
    if not changed or any(profile.get("kind") == "locks" for profile in view.run.profiles):
        return NOTHING
    most = max(changed, key=lambda one: abs(log(one.ratio or 1.0)))
    chosen = f" --system {most.system}" if len({one.system for one in compared}) > 1 else ""
    command = f"{command_line(view.run, '--profile')}{chosen} --profile locks"
    return message("To find the cause of the change in throughput: {command}", command=command)


def _request_by_hand(view: View) -> Message:
    """Return how to find out why no measurement of a user's service succeeded; NOTHING for other plans."""
    if not view.run.plan.get("own"):
        return NOTHING
    own = UserService.from_json(view.run.plan["own"])
    request, target = own.requests.requests[0], next(iter(own.targets), None)
    method = [] if request.method == "GET" else ["-X", request.method]
    url = str(target.url).rstrip("/") if target else f"http://127.0.0.1:{EXAMPLE_PORT}"
    return message(
        "No measurement succeeded. Start the service yourself, read its log, and send it a request: {command}",
        command=shlex.join(["curl", "-i", *method, f"{url}{request.path}"]),
    )


# ---- tables of the page ----------------------------------------------------------------------------------------------


def _steps_plot(view: View) -> Table:
    """Return a forest plot of the compared runtimes: for the only setting, or for all together if there are several."""
    settings = _settings(view.compared)
    named = settings[0] if len(settings) == 1 else [one for one in view.compared if one.is_over_all]
    shown = sorted(named, key=lambda one: one.step == "aa")
    cols: list[Col[Comparison]] = [
        STEP,
        FROM_TO,
    ]
    made = forest(message("Steps"), [(NOTHING, shown)], lambda one: one, cols)
    return replace(made, key="", caption=NOTHING)


def _bars(view: View) -> Table:
    """Return a table with bars: the throughput of each runtime, or the throughput ratio of each setting if several."""
    settings = _settings(view.compared)
    if len(settings) > 1:
        return _ratio_bars([min(setting, key=rank) for setting in settings], view)
    rows = [row for row in view.rows if row.figures]
    most = ROOM * THROUGHPUT.most(rows)

    def bar(row: Row) -> Datum:
        return Datum(strip=THROUGHPUT.strip(row, most, view.looks[row.runtime], row.runtime), cells=row.trace)

    cols: list[Col[Row]] = [
        arm_col("runtime", view.looks),
        col(NOTHING, bar, is_strip=True),
        col(THROUGHPUT.label, THROUGHPUT.median, whole, THROUGHPUT.figure),
    ]
    return table(message("Throughput"), cols, [(NOTHING, rows)], kind="bars wide", caption=BARS)


def _ratio_bars(compared: Sequence[Comparison], view: View) -> Table:
    """Return a table with a bar for the ratio of each comparison. It shows only the first MOST_BARS comparisons."""
    shown = compared[:MOST_BARS]
    most = ROOM * max([1.0, *(one.ratio for one in shown if one.ratio)])

    def bar(one: Comparison) -> Datum:
        look = view.looks.get(one.numerator, 0) % COUNT
        bars = ((0.0, one.ratio or 0.0, f"bar r{look} p{look}"),)
        return Datum(strip=Strip(high=most, bars=bars, lines=((1.0, "unity"),), tip=ratio_text(one)))

    cols: list[Col[Comparison]] = [
        col("Setting", view.settings.short, leads=True),
        col(NOTHING, bar, is_strip=True),
        col(ratio_head(shown), ratio_datum, ratio),
    ]
    caption = message(
        "Bars show the throughput of the newer runtime divided by that of the older runtime. The dashed line marks 1."
    )
    left = plural(
        "{count} more setting is in the section All comparisons.",
        "{count} more settings are in the section All comparisons.",
        count=len(compared) - len(shown),
    )
    caption = listed([caption, MORE, *[left] * (len(compared) > len(shown))], SENTENCES)
    arms = grouped(shown, lambda one: verbatim(f"{one.denominator} → {one.numerator}"))
    return table(message("Throughput ratio of each setting"), cols, arms.items(), kind="bars settings", caption=caption)


# ---- notes of the page -----------------------------------------------------------------------------------------------


def _open_sentences(view: View) -> Iterator[Message]:
    """Yield sentences on missing verdicts: the reasons, and the number of blocks that the verdicts need."""
    undecided = [one for one in answering(view.compared) if one.step != "aa" and one.verdict in OPEN]
    whys: dict[Message, list[Comparison]] = {}
    for one in undecided:
        is_hopeless = one.verdict == "inconclusive" and one.blocks_needed is None
        if one.verdict != "invalid" or one.obstacle != one.why:  # otherwise its headline has the reason
            whys.setdefault(one.why if is_hopeless else one.obstacle, []).append(one)
    if whys:
        reasons = (traced(why, together(one.trace for one in about)) for why, about in whys.items())
        yield message("Reasons why there is no verdict yet: {reasons}.", reasons=listed(reasons, SEMICOLON))
    needed = [one for one in undecided if one.blocks_needed and one.ratio]
    if more := more_blocks(needed):
        first, last = amount(min(more)), amount(max(more))
        most = traced(last, together(one.trace for one in needed))
        if first == last:
            yield message("A verdict needs {amount} more measured rounds (blocks).", amount=most)
        else:
            yield message(
                "The first verdict needs {first} more blocks (measured rounds), and all verdicts together need {last}.",
                last=most,
                first=first,
            )
        if count := blocks_to_add(view.compared):
            yield message("To continue, use: {command}", command=more_blocks_command(view.run, count))
