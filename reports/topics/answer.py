"""The last screen of a run: what was found in a few sentences, the steps in a table, and what to do next. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log

from core.languages import ENGLISH
from core.messages import AND, COMMA, NOTHING, SEMICOLON, SENTENCES, Arg, Message, listed, message, plural, verbatim
from reports.document.model import ABSENT, Datum, Section, Table, plain_table, words
from reports.document.shapes import Col, col, table
from reports.document.values import microseconds, ratio, whole_percent
from reports.facts.cells import runtimes, setting_key
from reports.facts.commands import command_line, more_blocks_command
from reports.facts.comparisons import Comparison, confounds_of
from reports.facts.gates import MOST_IN_USE, MOST_SATURATION, background, disturbances
from reports.facts.pairs import OVER_ALL
from reports.facts.settings import Settings
from reports.facts.steps import NAMES, steps
from reports.statistics.verdict import MOST_DOZENS, WORDS, amount
from reports.topics.comparisons import more_blocks, ratio_datum
from reports.view import View

MOST_LINES = 12  # of the table of several settings, with the lines that name them
MOST_CONFOUNDS = 2
CAUSES = {  # of a step
    "lock": message("removing the GIL"),
    "build": message("the free-threaded build"),
    "jit": message("the JIT"),
    "patch": message("the patch release"),
    "version": message("the version of Python"),
    "other": message("several causes at once"),
}
MAIN = ("whole", "patch", "other", "lock", "jit", "build", "version", "aa")  # the first there is is the headline
SERVES = {
    "faster": message("{setting}: {numerator} serves {ratio} the requests of {denominator}{but}."),
    "slower": message("{setting}: {numerator} serves only {ratio} the requests of {denominator}{but}."),
    "equivalent": message("{setting}: {numerator} and {denominator} serve the same: {ratio} (equivalent){but}."),
    "inconclusive": message(
        "{setting}: undecided: {numerator} serves {ratio} the requests of {denominator}, which can be chance{but}."
    ),
    "invalid": message("{setting}: {numerator} against {denominator} has no verdict: {why}."),
    "unjudged": message("{setting}: {numerator} serves {ratio} the requests of {denominator} (not judged){but}."),
    "unmeasured": message("{setting}: {numerator} against {denominator} was not measured: {why}."),
}
GAINS = {
    "faster": message("gain throughput in {systems}"),
    "slower": message("lose throughput in {systems}"),
    "equivalent": message("gain nothing in {systems}"),
    "inconclusive": message("may gain or lose in {systems}, which is undecided"),
    "invalid": message("have no valid measurement in {systems}"),
}
ACROSS = {
    True: message("Without the GIL, threads in one process {found}."),
    False: message("Across {count} processes, one for each core, threads without the GIL {found}."),
}
P99 = {  # by what the 99th percentile did
    "slower": message(", but p99 is {share} higher"),
    "faster": message(", but p99 is {share} lower"),
}
ONLY_ONE = message("Only one runtime was measured, so there is nothing to compare.")
ONE_CORE = message("This run had 1 core, so threads could not run in parallel, with the GIL or without.")
SPENT = {
    True: message("{share} less CPU time per request"),
    False: message("{share} more CPU time per request"),
}
FROM, THROUGHPUT, VERDICT = message("from"), message("throughput"), message("verdict")
LATENCY = message("Latency")
Steps = Mapping[str, Comparison]  # the comparisons of a setting, by step


def answer(view: View) -> list[Message | Table]:
    """Return the sentences and tables of the last screen, but for the path of the page."""
    compared = _shown(view)
    if not compared:
        return [ONLY_ONE]
    settings: dict[tuple[str, str], dict[str, Comparison]] = {}
    for one in compared:
        settings.setdefault(setting_key(one.system, one.params), {})[one.step] = one
    body: list[Message | Table]
    if len(settings) == 1:
        main = min(compared, key=_rank)
        arms = message("{denominator} → {numerator}:", denominator=main.denominator, numerator=main.numerator)
        body = [headline(main, compared), _steps(compared), arms]
        notes = [(message("Why"), made_of(main)), (LATENCY, _latency(main, view))]
    else:
        means = [one for one in view.comparisons if one.system == OVER_ALL]
        over_all = [headline(min(means, key=_rank), compared)] if means else []
        body = [*(gains(view) or over_all), *_systems([*settings.values()], view)]
        notes = [(LATENCY, _moved(compared, view))]
    disturbed = disturbances(view.run.cells)
    is_busy = view.others is None or view.others.is_busy  # some runs do not say how much other processes used
    notes += [
        (message("Beside"), view.beside),
        (message("Caution"), _caution(compared, [] if is_busy else disturbed, view)),
        *((message("Missing"), text) for text in _missing(view)),
        (message("Next"), _next(compared, view)),
    ]
    doubts = [ONE_CORE] * (view.machine.available_cores == 1)
    doubts += [message("{reason}.", reason=one) for one in background(view.run.cells)]
    if is_busy:
        doubts += [
            message("Repeat this on a quiet machine before you rely on it: {reason}.", reason=one) for one in disturbed
        ]
    return [*doubts, *body, labelled(note for note in notes if note[1])]


def _shown(view: View) -> list[Comparison]:
    return [one for one in view.comparisons if one.system != OVER_ALL and (one.ratio or one.verdict == "invalid")]


def _rank(one: Comparison) -> int:
    return MAIN.index(one.step)


def gains(view: View) -> list[Message]:
    """Return what removing the GIL gains in one process, and across as many processes as cores, by the verdicts."""
    lock = [one for one in _shown(view) if one.step == "lock" and one.verdict in GAINS]
    sentences = []
    for count in dict.fromkeys((1, view.machine.available_cores)):
        some = [one for one in lock if one.params.get("NUM_API_SERVICES") == count]
        clauses = [
            replace(template, args={"systems": listed(systems, COMMA, AND)})
            for verdict, template in GAINS.items()
            if (systems := [_gain(one, view) for one in some if one.verdict == verdict])
        ]
        if clauses and len({one.system for one in some}) == len(some):
            sentences.append(replace(ACROSS[count == 1], args={"count": count, "found": listed(clauses, SEMICOLON)}))
    return sentences


def _gain(one: Comparison, view: View) -> Message:
    return message("{system} ({ratio})", system=view.settings.number(one.system), ratio=ratio_text(one))


def headline(one: Comparison, compared: Sequence[Comparison]) -> Message:
    """Return a comparison as a sentence. compared: all of the run, for the settings that it speaks of"""
    setting = _where(one, compared)
    if one.step in CAUSES and not one.between_services:
        setting = message("{setting}, {cause}", setting=setting, cause=CAUSES[one.step])
    arms: dict[str, Arg] = {"numerator": one.numerator, "denominator": one.denominator, "why": one.why}
    word = one.verdict if one.ratio is not None or one.verdict == "invalid" else "unmeasured"
    said = replace(SERVES[word], args={**arms, "setting": setting, "ratio": ratio_text(one), "but": _but(one)})
    if not one.is_beside_others or one.others is None:
        return said
    return message(
        "On a busy machine, where other processes used {share} of the cores: {said}",
        share=whole_percent(one.others),
        said=said,
    )


def _where(one: Comparison, compared: Sequence[Comparison]) -> Message:
    """Return a system, or how many settings together: those that the step has a ratio of."""
    arms = (one.numerator, one.denominator)
    step = [each for each in compared if (each.numerator, each.denominator) == arms and each.ratio is not None]
    settings = {setting_key(each.system, each.params) for each in step if each.system != OVER_ALL}
    systems = {system for system, _ in settings} or {one.system}
    if len(settings) <= 1:
        (system,) = systems
        return Settings.number(system)
    if len(systems) == len(settings):
        return message("The {count} systems together", count=len(settings))
    return message("All {count} settings together", count=len(settings))


def _but(one: Comparison) -> Message:
    """Return that the 99th percentile of latency moved against the throughput; nothing if it did not."""
    p99 = one.tails.get("p99", {})
    word = p99.get("verdict")
    if word not in P99 or (word == "slower") == (one.verdict == "slower"):
        return NOTHING
    return replace(P99[word], args={"share": whole_percent(abs(1 / p99["ratio"] - 1))})


def ratio_text(one: Comparison) -> str:
    """Return '1.31x [1.26, 1.37]'."""
    value, space, bounds = ratio_datum(one).text(ENGLISH).partition(" ")
    return value if value == ABSENT else f"{value}x{space}{bounds}"


# ---- tables ----------------------------------------------------------------------------------------------------------


def _steps(compared: Sequence[Comparison]) -> Table:
    """Return a line for each step of one setting."""
    names = {**NAMES, "aa": message("noise")}
    cols = [
        col(message("step"), lambda one: names[one.step]),
        col(message("from → to"), lambda one: f"{one.denominator} → {one.numerator}"),
        col(THROUGHPUT, ratio_text),
        col(VERDICT, _verdict),
    ]
    return table(message("Steps"), cols, [(NOTHING, sorted(compared, key=lambda one: one.step == "aa"))])


def _verdict(one: Comparison) -> Datum:
    """Return the word of the verdict, and how much more it takes if there is none; nothing for what is not judged."""
    word = WORDS[one.verdict]
    if one.verdict == "inconclusive" and one.blocks_needed:
        word = message("{word}: {amount} more blocks", word=word, amount=amount(one.blocks_needed - one.blocks))
    return words(NOTHING if one.verdict == "unjudged" else word, state=one.verdict)


def _systems(settings: Sequence[Steps], view: View) -> list[Message | Table]:
    """Return a line for each setting: the GIL's step and the whole, or else the first step of MAIN that there is."""
    labels: dict[str, Message] = {step: one.label for setting in settings for step, one in setting.items()}
    chosen: list[str] = [step for step in ("lock", "whole") if step in labels] or [min(labels, key=MAIN.index)]
    cols: list[Col[Steps]] = [col(message("system"), lambda setting: view.settings.number(_first(setting).system))]
    for step in chosen:
        cols += _step_cols(step, labels[step])
    named: dict[Message, list[Steps]] = {}
    left = len(settings)
    for setting in settings:
        values = verbatim(view.settings.values(_first(setting).system, _first(setting).params))
        if len(settings) - left + len({*named, values}) > MOST_LINES:
            break
        named.setdefault(values, []).append(setting)
        left -= 1
    more = plural("{count} more row is on the page.", "{count} more rows are on the page.", count=left)
    return [table(message("Systems"), cols, named.items()), *[more] * bool(left)]


def _first(setting: Steps) -> Comparison:
    return next(iter(setting.values()))


def _step_cols(step: str, label: Message) -> list[Col[Steps]]:
    """Return the columns of base, ratio and verdict; they have dashes if a setting lacks the step."""

    def verdict(setting: Steps) -> Datum | str:
        word = setting[step].verdict if step in setting else ""
        return words(WORDS[word], state=word) if word else word

    return [
        col(FROM, lambda setting: setting[step].denominator if step in setting else ABSENT, over=label, rank=1),
        col(THROUGHPUT, lambda setting: ratio_text(setting[step]) if step in setting else ABSENT, over=label),
        col(VERDICT, verdict, over=label),
    ]


# ---- labelled lines --------------------------------------------------------------------------------------------------


def labelled(lines: Iterable[Sequence[Message | Datum]]) -> Table:
    """Return a table of labels with their texts."""
    return plain_table(message("Notes"), (NOTHING, NOTHING), lines)


def with_page(section: Section, path: str) -> Section:
    """Return the section of the answer with the path of the page as its last line."""
    *before, last = section.terminal or (NOTHING,)
    notes, above = ([*last.lines], before) if isinstance(last, Table) else ([], [*before, last])
    return replace(section, terminal=(*above, labelled([*notes, (message("Page"), verbatim(path))])))


def made_of(one: Comparison) -> Message:
    """Return what the ratio of a comparison is made of, if that is known."""
    if not one.factors:
        return NOTHING
    cpu, cores = (one.factors[name]["ratio"] for name in ("cpu_per_request", "cores_used"))
    spent = replace(SPENT[cpu >= 1], args={"share": whole_percent(abs(1 / cpu - 1))})
    return message("{spent}, {ratio}x the cores in use.", spent=spent, ratio=ratio(cores))


def _latency(one: Comparison, view: View) -> Message:
    """Return the latencies of both sides of the headline, if both have any."""
    setting = setting_key(one.system, one.params)
    mine = [row for row in view.rows if one.between_services or setting_key(row.system, row.params) == setting]
    sides = {row.runtime: row.figures or {} for row in mine}
    before, after = (sides.get(arm, {}) for arm in (one.denominator, one.numerator))
    parts = [
        message("{name} {before} → {after} us", name=name, before=microseconds(first), after=microseconds(last))
        for name in ("p50", "p99")
        if (first := before.get(f"{name}_ns")) and (last := after.get(f"{name}_ns"))
    ]
    return message("{parts}.", parts=listed(parts)) if parts else NOTHING


def _moved(compared: Sequence[Comparison], view: View) -> Message:
    """Return the systems whose p99 moved against their throughput."""
    moved = [
        message("{system} ({denominator} → {numerator}{but})", system=view.settings.number(one.system),
                denominator=one.denominator, numerator=one.numerator, but=but)
        for one in compared if one.step in ("lock", "whole") and (but := _but(one))
    ]  # fmt: skip
    return message("{moved}.", moved=listed(moved, SEMICOLON)) if moved else NOTHING


def _caution(compared: Sequence[Comparison], disturbed: Sequence[Message], view: View) -> Message:
    """Return what limits the ratios. disturbed: how the machine was not quiet"""
    confounds = confounds_of([one for one in compared if one.verdict != "unjudged"])
    noise = max((one.noise_floor for one in compared if one.noise_floor), default=0.0)
    shared = message(
        "Services and clients share {count} cores and use nearly all of them: the ratio is that of both.",
        count=view.machine.available_cores,
    )
    busy = message("The clients were busy, so a service may be faster than shown.")
    differs = message("More than the step differs: {confounds}.", confounds=listed(confounds[:MOST_CONFOUNDS]))
    cautions = [
        *[shared] * any((one.cores_in_use or 0) >= MOST_IN_USE for one in compared),
        *[busy] * any((one.saturation or 0) > MOST_SATURATION for one in compared),
        *[differs] * bool(confounds),
        *[message("Noise reaches {ratio}x.", ratio=ratio(1 + noise))] * bool(noise),
        *(message("Disturbed: {reason}.", reason=reason) for reason in disturbed),
    ]
    return listed(cautions, SENTENCES)


def _missing(view: View) -> Iterator[Message]:
    """Yield what each missing runtime would add, and how to install it."""
    present, facts = runtimes(view.run), view.run.runtimes
    shown = {step.name for step in steps(present, {}, facts)}
    for name, reason in view.run.missing.items():
        more = {step.name for step in steps([*present, name], {}, facts)} - shown
        added = listed((text for step, text in NAMES.items() if step in more), COMMA, AND)
        text = message("{runtime} would also show {added}. {reason}", runtime=name, added=added, reason=reason)
        yield text if more else reason


def _next(compared: Sequence[Comparison], view: View) -> Message:
    """Return the command that decides what is open, or else one that finds the cause of the largest difference."""
    undecided = (one for one in compared if one.verdict == "inconclusive")
    needed = [more for more in more_blocks(undecided) if more <= MOST_DOZENS]
    if needed:
        return message("To decide what is open: {command}", command=more_blocks_command(view.run, max(needed)))
    if any(profile.get("kind") == "locks" for profile in view.run.profiles):
        return NOTHING
    most = max(compared, key=lambda one: abs(log(one.ratio)) if one.ratio else 0.0)
    chosen = f" --system {most.system}" if len({one.system for one in compared}) > 1 else ""
    command = f"{command_line(view.run, '--profile')}{chosen} --profile locks"
    return message("To find the cause: {command}", command=command)
