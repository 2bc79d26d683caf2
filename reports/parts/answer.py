"""Answer for the terminal: the steps between runtimes, why they differ, what to heed and what to do
next.

The section "Verdict" (reports/sections/verdict.py) calls answer(). It shows all parts of the answer
on the terminal, and the last one on the page. commands/report.py adds the path of the page.
A step compares two arms, which are runtimes or services: numerator divided by denominator. A ratio
above 1 means that the numerator is faster. A setting is a system with values of its parameters.
The table of notes, labelled(), must stay the last part, because both callers take it by its place.
"""

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import log
from operator import attrgetter
from typing import Any

from analysis.cell_index import grouped
from analysis.comparing import UNCOUNTED
from analysis.comparison_words import AT_RATE_TAILS, Comparison, confounds_of
from analysis.decisions import blocks_to_add
from analysis.formats import duration, latency_scale, ratio, whole_percent
from analysis.gates import MOST_IN_USE, MOST_SATURATION, background, disturbances
from analysis.judging import amount
from analysis.metrics import pooled
from analysis.others import on_busy
from analysis.settings import about
from core.messages import (
    NOTHING,
    SENTENCES,
    Message,
    chained,
    listed,
    message,
    plural,
    verbatim,
)
from core.request_plan import Request, placeholders
from record.comparison import DIFFERENT
from reports.document import ABSENT, Datum, Section, Table, plain_table, words
from reports.parts import swept_values as sweeps
from reports.parts.best_settings import best_sentences
from reports.parts.comparison_table import lacks_verdict
from reports.parts.headline import (
    by_setting,
    gains,
    main_headline,
    measured_steps,
    opposed,
    rank,
    ratio_text,
    tails_text,
)
from reports.parts.run_words import (
    command_line,
    missing_runtimes,
    more_blocks_command,
    order_words,
)
from reports.tables import Col, col, table
from reports.view import View

# of the table of several settings: its lines and the names of settings above them, except the first
MOST_LINES = 12
MOST_CONFOUNDS = 2  # that the caution names; the section "Validity" names all
MOST_SENTENCES = 6  # on the best setting
ONLY_ONE = message("Only one runtime was measured, so there is nothing to compare.")
Setting = Sequence[Comparison]  # the comparisons of one setting, in the order of View.comparisons
# the step that compares a runtime with itself (A/A) is the noise
STEP: Col[Comparison] = col(
    "step", lambda one: message("noise") if one.step == "aa" else one.step_name, leads=True
)
FROM_TO: Col[Comparison] = col("from → to", lambda one: f"{one.denominator} → {one.numerator}")


def answer(view: View) -> list[Message | Table]:
    """Return the sentences and tables that a run prints at its end: its result, and what to do
    next.

    with_page() adds the path of the report's HTML page.
    """
    compared = measured_steps(view)
    best = best_sentences(view)[:MOST_SENTENCES] if view.plan.own else []
    if not compared:
        return [*best, *sweeps.answer(view)] or [ONLY_ONE]
    main = min(compared, key=rank)
    if len(by_setting(compared)) == 1:
        said = main_headline(view.compared, view.headings)
        body: list[Message | Table] = [said, _steps_table(compared)]
        why, latency = made_of(main), _latency(main, view)
        if why or latency:
            body.append(message("{denominator} → {numerator}:", **_arms(main)))
        rest = [one for one in compared if one is not main]
    else:
        rest = _chosen(compared, main)
        body = [*best, *_of_settings(compared, rest, view)]
        why = latency = NOTHING
    disturbed = disturbances(view.run.cells) if any(one.ratio for one in compared) else []
    # None: the CPU time of other processes is unknown
    is_busy = view.others is None or view.others.is_busy
    core = message(
        "This run had 1 core, so threads could not run in parallel, with the GIL or without."
    )
    notes = (
        (message("Why"), why),
        (message("Latency"), chained([latency, *_opposed(rest, view)], SENTENCES)),
        (message("Program"), view.beside),
        (message("Order"), _order(view)),
        (message("Caution"), _caution(compared, [] if is_busy else disturbed, view)),
        *((message("Missing"), reason) for reason in missing_runtimes(view)),
        (message("Next"), _next(view)),
    )
    return [
        *[core] * (view.machine.available_cores == 1),
        *(message("{reason}.", reason=one) for one in background(view.run.cells)),
        # if other processes were not busy, disturbances are part of the caution instead
        *map(_repeat, disturbed if is_busy else ()),
        *body,
        labelled(note for note in notes if note[1]),
    ]


def _order(view: View) -> Message:
    """Return that the runtimes took no turns in time slices, if only the measurements showed it."""
    made = {cell.turns.slices for cell in view.run.cells if cell.turns.slices}
    is_slow = view.plan.method.slices and made == {1}
    return message("{reason}.", reason=order_words(view)) if is_slow else NOTHING


def _repeat(reason: Message) -> Message:
    return message(
        "Repeat this run on a quiet machine before you rely on the result: {reason}.",
        reason=reason,
    )


def _arms(one: Comparison) -> dict[str, Any]:
    return {"denominator": one.denominator, "numerator": one.numerator}


def _chosen(compared: Sequence[Comparison], main: Comparison) -> list[Comparison]:
    """Return the comparisons that the table of several settings shows."""
    # the effect of the GIL, and that of the last runtime compared with the first
    names = {"lock", "whole"} & {one.step for one in compared} or {main.step}
    return [one for one in compared if one.step in names]


def _of_settings(
    compared: Sequence[Comparison], chosen: Sequence[Comparison], view: View
) -> list[Message | Table]:
    """Return the answers on runtimes at several settings, and on the values of swept parameters.
    Variants come before the runtimes, because they are what their run compares.
    """
    said, of_values = main_headline(view.compared, view.headings), sweeps.answer(view)
    systems = _systems(by_setting(compared), chosen, view)
    runtimes = [*(gains(view) or [said] * bool(said)), *systems]
    return [*of_values, *runtimes] if sweeps.has_variants(view) else [*runtimes, *of_values]


def _steps_table(compared: Sequence[Comparison]) -> Table:
    """Return a table with a line for each comparison of two runtimes in one setting."""
    results = [col("throughput", ratio_text), col("verdict", _verdict)]
    if compared[0].is_at_rate:
        results = [col("latency", tails_text)]
    name = message("Comparisons of runtimes or services")
    lines = sorted(compared, key=lambda one: one.step == "aa")
    return table(name, [STEP, FROM_TO, *results], [(NOTHING, lines)])


def _verdict(one: Comparison) -> Datum:
    """Return a comparison's verdict and how many blocks the verdict still needs; nothing if it
    needs no verdict.
    """
    word = NOTHING if one.verdict == "unjudged" or lacks_verdict(one) else one.word
    if word and one.verdict == "inconclusive" and one.blocks_needed:
        word = message(
            "{word}: {amount} more blocks", word=word, amount=amount(one.blocks_needed - one.blocks)
        )
    return words(word, state=one.verdict)


def _systems(
    settings: Sequence[Setting], chosen: Iterable[Comparison], view: View
) -> list[Message | Table]:
    """Return a table of throughput ratios with a line for each setting, and how many lines the
    table leaves out.

    chosen: the comparisons that the table shows
    """

    def head(setting: Setting) -> Message:
        return listed([view.settings.values(setting[0])])

    counts = range(1, len(settings) + 1)
    count = max(
        count for count in counts if count - 1 + len({*map(head, settings[:count])}) <= MOST_LINES
    )
    left = len(settings) - count
    cols: list[Col[Setting]] = [
        col("system", lambda setting: view.settings.number(setting[0].system))
    ]
    # of a step that occurs several times, such as version, the last comparison stands for all
    for one in {one.step: one for one in chosen}.values():
        cols += _step_cols(one)
    more = plural(
        "{count} more table row is on the report page.",
        "{count} more table rows are on the report page.",
        count=left,
    )
    return [
        table(message("Systems"), cols, grouped(settings[:count], head).items()),
        *[more] * bool(left),
    ]


def _step_cols(like: Comparison) -> list[Col[Setting]]:
    """Return the columns of the step of *like* (a step compares two runtimes): base runtime, ratio
    and verdict, or latency at a fixed rate.

    If a setting has several comparisons of the step, the columns show the last one.
    """
    label = like.label

    def of(read: Callable[[Comparison], Any], absent: str = ABSENT) -> Callable[[Setting], Any]:
        return lambda setting: next(
            (read(one) for one in setting[::-1] if one.step == like.step), absent
        )

    base = col("base", of(attrgetter("denominator")), over=label, rank=1)
    if like.is_at_rate:
        return [base, col("latency", of(tails_text), over=label)]
    return [
        base,
        col("throughput", of(ratio_text), over=label),
        col("verdict", of(lambda one: words(one.word, state=one.verdict), ""), over=label),
    ]


def labelled(lines: Iterable[Sequence[Message | Datum]]) -> Table:
    """Return a table of notes without column heads. Each line has a label and a text."""
    return plain_table(message("Notes"), (NOTHING, NOTHING), lines)


def with_page(section: Section, path: str) -> Section:
    """Return *section* with one more line in the texts for the terminal: the path of the report's
    HTML page.
    """
    *before, last = section.terminal or (NOTHING,)
    notes, above = ([*last.lines], before) if isinstance(last, Table) else ([], [*before, last])
    return replace(
        section, terminal=(*above, labelled([*notes, (message("Page"), verbatim(path))]))
    )


def made_of(one: Comparison) -> Message:
    """Return text on what makes up a throughput ratio: the numerator's CPU time per request and
    cores in use, both compared with the denominator's.

    Return nothing if they are not known.
    """
    if not one.factors:
        return NOTHING
    cpu, cores = (one.factors[name].ratio or 1.0 for name in ("cpu_per_request", "cores_used"))
    # a factor of 2 means half of the CPU time (record/comparison.py): the change is 1 / factor - 1
    share = whole_percent(abs(1 / cpu - 1))
    spent = message("{share} more CPU time per request", share=share)
    if cpu >= 1:
        spent = message("{share} less CPU time per request", share=share)
    return message(
        "{runtime} uses {spent} and {ratio}x as many CPU cores.",
        runtime=one.numerator, spent=spent, ratio=ratio(cores),
    )  # fmt: skip


def _latency(one: Comparison, view: View) -> Message:
    """Return the p50 and p99 latency of two compared runtimes as the table of results has them,
    with their verdicts.

    A percentile that one runtime lacks is left out.
    """
    sides = {row.runtime: row for row in view.rows if one.between_services or row.key == one.key}
    rows = [sides[arm] for arm in (one.denominator, one.numerator) if arm in sides]
    parts = []
    for name in AT_RATE_TAILS:
        known: list[Any] = [row.columns.get(f"{name}_ns") for row in rows]
        if len(rows) < 2 or not all(known):
            continue
        scale = latency_scale(max(known))
        before, after = map(scale.form, known)
        said = message(
            "{name} {before} → {after} {unit}",
            name=name, before=before, after=after, unit=scale.name,
        )  # fmt: skip
        if name in one.tails:
            word = on_busy(one.tails[name].word, one.others)
            said = message("{said} ({word})", said=said, word=word)
        elif any(name in pooled(row.good) for row in rows):
            said = message("{said} ({name} pooled over the blocks)", said=said, name=name)
        parts.append(said)
    return message("{parts}.", parts=listed(parts)) if parts else NOTHING


def _opposed(compared: Iterable[Comparison], view: View) -> list[Message]:
    """Return a sentence per comparison in which only p99 is worse, p99 is better although
    throughput is worse, or routes contradict the whole.
    """
    return [
        message(
            "{denominator} → {numerator}: {p99} in {setting}.",
            **_arms(one),
            p99=said,
            setting=view.settings.where(one),
        )
        for one in compared
        if (said := opposed(one))
    ]


def _caution(compared: Sequence[Comparison], disturbed: Sequence[Message], view: View) -> Message:
    """Return warnings about what makes the ratios less reliable, with remedies.

    disturbed: sentences on how the machine was not quiet; empty if the answer begins with them
    """
    confounds = confounds_of([one for one in compared if one.verdict != "unjudged"])
    noise = max((one.noise_floor for one in compared if one.noise_floor), default=0.0)
    shared = message(
        "Services and clients share {count} cores and use nearly all of them, so the clients also "
        "influence the ratio. Repeat the run with more cores.",
        count=view.machine.available_cores,
    )
    busy = message(
        "The clients used most of the CPU available to them, so the services may be faster than "
        "shown. Use --client-runtime native, or more cores."
    )
    differs = message(
        "The compared runtimes also differ in: {confounds}.",
        confounds=listed(confounds[:MOST_CONFOUNDS]),
    )
    noisy = message(
        "Noise (A/A): the interval of a runtime's ratio to itself extends as far from 1 as "
        "{ratio}x.",
        ratio=ratio(1 + noise),
    )
    cautions = [
        _uncounted(compared, view),
        shared if any((one.cores_in_use or 0) >= MOST_IN_USE for one in compared) else NOTHING,
        busy if any((one.saturation or 0) > MOST_SATURATION for one in compared) else NOTHING,
        differs if confounds else NOTHING,
        noisy if noise else NOTHING,
        *(message("Disturbances: {reason}.", reason=reason) for reason in disturbed),
    ]
    return chained(cautions, SENTENCES)


def _uncounted(compared: Sequence[Comparison], view: View) -> Message:
    """Return that blocks of a comparison do not count: of the first one of which this is true."""
    is_one = len(by_setting(compared)) == 1
    for one in compared:
        for note in one.notes:
            if note.code == UNCOUNTED:
                setting = NOTHING if is_one else view.settings.where(one)
                sentence = message("{note}.", note=note)
                return about(sentence, setting, one.label)
    return NOTHING


def _next(view: View) -> Message:
    """Return the command to run next: it measures more blocks for missing verdicts, or else
    profiles locks.

    If so many measurements failed that nothing can be compared, it sends a request to the user's
    service. The lock profile is of the system whose throughput changes most.
    """
    compared = measured_steps(view)
    if not any(one.ratio for one in compared):
        return _request_by_hand(view)
    if more := blocks_to_add(view.compared):
        command = more_blocks_command(view.run, more)
        blocks = max((cell.block for cell in view.run.cells), default=0)
        spent_s = view.run.spent_ns.get("cells", 0) / 1e9
        if not (spent_s and blocks):
            return message("More blocks may give the missing verdicts: {command}", command=command)
        # the new blocks are expected to take as long as the earlier ones
        time = duration(more * spent_s / blocks)
        return message(
            "More blocks may give the missing verdicts in about {time}: {command}",
            time=time,
            command=command,
        )
    changed = [one for one in compared if one.verdict in DIFFERENT]
    if not changed or any(profile.get("kind") == "locks" for profile in view.run.profiles):
        return NOTHING
    # the logarithm makes 2x and 0.5x changes of equal size
    most = max(changed, key=lambda one: abs(log(one.ratio or 1.0)))
    chosen = f" --system {most.system}" if len({one.system for one in compared}) > 1 else ""
    command = f"{command_line(view.run, '--profile')}{chosen} --profile locks"
    return message("To find the cause of the change in throughput: {command}", command=command)


def _request_by_hand(view: View) -> Message:
    """Return how to find out why measurements of a user's service failed; NOTHING for
    other plans.
    """
    own = view.plan.user_service
    if not own:
        return NOTHING
    target = next(iter(own.targets), None)
    # the reader starts a service by hand, at the usual port of an example
    url = str(target.url).rstrip("/") if target else "http://127.0.0.1:8000"
    every = own.requests.requests
    # what comes after a login needs its session, and a placeholder the value that a client fills in
    asked = [one for one in every if one.first] or every
    commands = [(one.expect_status, shlex.join(_curl(one, url))) for one in asked]
    ready = [
        (status, command) for status, command in commands if not placeholders(command.encode())
    ]
    if wrong := [cell.reason for cell in view.failed_cells if cell.wrong]:
        advice = message(
            "The service gave wrong answers, so nothing can be compared ({reason}). Correct the "
            "expected answer, or the service.",
            reason=wrong[0],
        )
        by_hand = [message("To see an answer: {command}", command=line) for _, line in ready]
    else:
        advice = message(
            "Measurements failed, so nothing can be compared. Start the service yourself, and read "
            "its log."
        )
        by_hand = [
            message(
                "Send it a request, whose answer must have the status {status}: {command}",
                status=status, command=command,
            )
            for status, command in ready
        ]  # fmt: skip
    return chained([advice, *by_hand[:1]], SENTENCES)


def _curl(request: Request, url: str) -> list[str]:
    """Return the words of a curl command that sends *request* as the clients do, with secrets as
    "...".
    """
    headers, body = {**request.headers}, str(request.body)
    content = [f"@{request.body_file}"] if request.body_file else [body] * bool(body)
    if content and "content-type" not in map(str.lower, headers):
        headers["Content-Type"] = "application/json"
    words = ["curl", "-i", *["-X", request.method] * (request.method != "GET")]
    for name, value in headers.items():
        words += ["-H", f"{name}: {value}"]
    for text in content:
        words += ["--data-binary", text]
    return [*words, f"{url}{request.path}"]
