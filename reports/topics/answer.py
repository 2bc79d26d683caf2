"""The last screen of a run: what was found in a few sentences, the steps in a table, and what to do next. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log

from core.messages import AND, COMMA, NOTHING, SEMICOLON, SENTENCES, Arg, Message, listed, message, plural, verbatim
from reports.document.model import Column, Datum, Line, Section, Table, groups, interval, plain_table, words
from reports.document.values import microseconds, ratio, whole_percent
from reports.facts.cells import Row, runtimes, setting_key
from reports.facts.commands import command_line, more_blocks_command
from reports.facts.comparisons import Comparison, confounds_of
from reports.facts.gates import MOST_IN_USE, MOST_SATURATION, disturbances
from reports.facts.pairs import OVER_ALL
from reports.facts.steps import NAMES, steps
from reports.statistics.verdict import MOST_DOZENS, WORDS, amount
from reports.view import View

MOST_LINES = 12  # of the table of several settings, with the lines that name them
MOST_CONFOUNDS = 2
MAIN = ("whole", "patch", "other", "lock", "jit", "build", "version", "aa")  # the first there is is the headline
SERVES: Mapping[str, Message] = {
    "faster": message("{setting}: {numerator} serves {ratio} the requests of {denominator}{but}."),
    "slower": message("{setting}: {numerator} serves only {ratio} the requests of {denominator}{but}."),
    "equivalent": message("{setting}: {numerator} and {denominator} serve the same: {ratio} (equivalent){but}."),
    "inconclusive": message(
        "{setting}: undecided: {numerator} serves {ratio} the requests of {denominator}, which can be chance{but}."
    ),
    "invalid": message("{setting}: {numerator} against {denominator} has no verdict: {why}."),
    "unjudged": message("{setting}: {numerator} serves {ratio} the requests of {denominator} (not judged){but}."),
}
GAINS: Mapping[str, Message] = {
    "faster": message("gain throughput in {systems}"),
    "slower": message("lose throughput in {systems}"),
    "equivalent": message("gain nothing in {systems}"),
    "inconclusive": message("may gain or lose in {systems}, which is undecided"),
    "invalid": message("have no valid measurement in {systems}"),
}
ACROSS: Mapping[bool, Message] = {
    True: message("Without the GIL, threads in one process {found}."),
    False: message("Across {count} processes, one for each core, threads without the GIL {found}."),
}
ONE_CORE = message("This run had 1 core, so threads could not run in parallel, with the GIL or without.")
STEP_HEADS = (message("step"), message("from → to"), message("throughput"), message("verdict"))


def answer(view: View) -> list[Message | Table]:
    """Return the sentences and tables of the last screen, but for the path of the page."""
    compared = _shown(view)
    if not compared:
        return [message("Only one runtime was measured, so there is nothing to compare.")]
    settings = list(dict.fromkeys(map(_key, compared)))
    if len(settings) == 1:
        main = min(compared, key=_rank)
        arms = message("{denominator} → {numerator}:", denominator=main.denominator, numerator=main.numerator)
        body: list[Message | Table] = [_headline(main, view), _steps(compared), arms]
        lines = _why(main, view)
    else:
        body = [*(gains(view) or _over_all(view)), *_systems(compared, settings, view)]
        lines = _against(compared, view)
    lines += [*_cautions(compared, view), *_missing(view), *_next(compared, view)]
    return [*_warnings(view), *body, labelled(lines)]


def _shown(view: View) -> list[Comparison]:
    return [one for one in view.comparisons if one.system != OVER_ALL and (one.ratio or one.verdict == "invalid")]


def _key(one: Comparison) -> tuple[str, str]:
    return setting_key(one.system, one.params)


def _rank(one: Comparison) -> int:
    return MAIN.index(one.step)


# ---- first lines -----------------------------------------------------------------------------------------------------


def _warnings(view: View) -> list[Message]:
    """Return what puts the whole answer in doubt: a single core, a machine that was not quiet."""
    return [
        *([ONE_CORE] if view.machine.available_cores == 1 else []),
        *(
            message("Repeat this on a quiet machine before you rely on it: {reason}.", reason=one)
            for one in (disturbances(view.run.cells) if _is_busy(view) else [])
        ),
    ]


def _is_busy(view: View) -> bool:
    """Return whether other processes used much in many blocks, or may have: earlier runs do not say how much."""
    return view.others is None or view.others.is_busy


def gains(view: View) -> list[Message]:
    """Return what removing the GIL gains in one process, and across as many processes as cores, by the verdicts."""
    cores = view.machine.available_cores
    lock = [one for one in _shown(view) if one.step == "lock" and one.verdict in GAINS]
    by_count = {count: [one for one in lock if one.params.get("NUM_API_SERVICES") == count] for count in (1, cores)}
    return [
        Message(msgid=ACROSS[count == 1].msgid, args={"count": count, "found": _gained(some, view)})
        for count, some in by_count.items()
        if some and len({one.system for one in some}) == len(some)
    ]


def _over_all(view: View) -> list[Message]:
    """Return the headline on the mean over all settings, if there is one."""
    means = [one for one in view.comparisons if one.system == OVER_ALL and one.step in MAIN]
    return [_headline(min(means, key=_rank), view)] if means else []


def _gained(lock: Sequence[Comparison], view: View) -> Message:
    """Return each verdict with its systems and their ratios."""
    clauses = []
    for verdict, template in GAINS.items():
        systems = listed(
            (
                message("{system} ({ratio})", system=view.settings.number(one.system), ratio=_ratio(one))
                for one in lock
                if one.verdict == verdict
            ),
            COMMA,
            AND,
        )
        clauses += [Message(msgid=template.msgid, args={"systems": systems})] * bool(systems)
    return listed(clauses, SEMICOLON)


def _headline(one: Comparison, view: View) -> Message:
    is_whole = one.between_services or one.system == OVER_ALL
    setting = view.settings.short(one.system, one.params) if is_whole else view.settings.number(one.system)
    arms: dict[str, Arg] = {"numerator": one.numerator, "denominator": one.denominator, "why": one.why}
    args = {**arms, "setting": setting, "ratio": _ratio(one), "but": _but(one)}
    return Message(msgid=SERVES[one.verdict].msgid, args=args)


def _but(one: Comparison) -> Message:
    """Return that the 99th percentile of latency moved against the throughput; nothing if it did not."""
    p99 = one.tails.get("p99", {})
    if p99.get("verdict") == "slower" and one.verdict != "slower":
        return message(", but p99 is {share} higher", share=whole_percent(1 / p99["ratio"] - 1))
    if p99.get("verdict") == "faster" and one.verdict == "slower":
        return message(", but p99 is {share} lower", share=whole_percent(1 - 1 / p99["ratio"]))
    return NOTHING


# ---- tables ----------------------------------------------------------------------------------------------------------


def _ratio(one: Comparison) -> str:
    """Return '1.31x [1.26, 1.37]'."""
    if one.ratio is None:
        return "-"
    text = interval(one.ratio, one.low or 0.0, one.high or float("inf"), ratio, is_range=one.is_range)
    return text.replace(" ", "x ", 1) if " " in text else f"{text}x"


def _verdict(one: Comparison) -> Message:
    """Return the word of the verdict, and how much more it takes if there is none; nothing for what is not judged."""
    word = WORDS[one.verdict]
    if one.verdict != "inconclusive" or not one.blocks_needed:
        return NOTHING if one.verdict == "unjudged" else word
    return message("{word}: {amount} more blocks", word=word, amount=amount(one.blocks_needed - one.blocks))


def _steps(compared: Sequence[Comparison]) -> Table:
    """Return a line for each step of one setting."""
    lines = [
        (
            NAMES[one.step] if one.step != "aa" else message("noise"),
            verbatim(f"{one.denominator} → {one.numerator}"),
            verbatim(_ratio(one)),
            words(_verdict(one), state=one.verdict),
        )
        for one in sorted(compared, key=lambda one: one.step == "aa")
    ]
    return plain_table(message("Steps"), STEP_HEADS, lines)


def _systems(compared: Sequence[Comparison], settings: Sequence[tuple[str, str]], view: View) -> list[Message | Table]:
    """Return a line for each setting: the GIL's step and the whole, or else the first step of MAIN that there is."""
    found = {one.step: one for one in compared}
    chosen: list[str] = [step for step in ("lock", "whole") if step in found] or [min(found, key=MAIN.index)]
    by_place = {(_key(one), one.step): one for one in compared}
    columns = [Column(head=message("system"))]
    for step in chosen:
        over = found[step].label
        heads = (message("from"), *STEP_HEADS[2:])
        columns += [Column(head=head, over=over, rank=rank) for head, rank in zip(heads, (1, 0, 0), strict=True)]
    named: dict[Message, list[Line]] = {}
    for place in settings:
        some = [by_place.get((place, step)) for step in chosen]
        one = next(filter(None, some), None) or next(one for one in compared if _key(one) == place)
        values = verbatim(view.settings.values(one.system, one.params))
        if sum(map(len, named.values())) + len({*named, values}) > MOST_LINES:
            break
        line = (words(view.settings.number(one.system)), *(datum for other in some for datum in _of_step(other)))
        named.setdefault(values, []).append(line)
    left = len(settings) - sum(map(len, named.values()))
    more = plural("{count} more row is on the page.", "{count} more rows are on the page.", count=left)
    table = Table(name=message("Systems"), columns=tuple(columns), groups=groups(named.items()))
    return [table, *([more] if left else [])]


def _of_step(one: Comparison | None) -> Line:
    """Return base, ratio and verdict; dashes where the step was not measured."""
    if one is None:
        return words("-"), words("-"), words("")
    word = WORDS[one.verdict]
    return words(one.denominator), words(_ratio(one)), words(word, state=one.verdict)


# ---- labelled lines --------------------------------------------------------------------------------------------------


def labelled(lines: Iterable[Sequence[Message | Datum]]) -> Table:
    """Return a table of labels with their texts."""
    return plain_table(message("Notes"), (NOTHING, NOTHING), lines)


def with_page(section: Section, path: str) -> Section:
    """Return the section of the answer with the path of the page as its last line."""
    *before, last = section.terminal or (NOTHING,)
    notes, above = ([*last.lines], before) if isinstance(last, Table) else ([], [*before, last])
    return replace(section, terminal=(*above, labelled([*notes, (message("Page"), verbatim(path))])))


def _why(one: Comparison, view: View) -> list[tuple[Message, Message]]:
    """Return what the headline's ratio is made of, and the latencies of both sides."""
    lines = []
    if one.factors:
        cpu, cores = (one.factors[name]["ratio"] for name in ("cpu_per_request", "cores_used"))
        share = whole_percent(abs(1 / cpu - 1))
        less, more = (
            message("{share} less CPU time per request", share=share),
            message("{share} more CPU time per request", share=share),
        )
        spent = less if cpu >= 1 else more
        text = message("{spent}, {ratio}x the cores in use.", spent=spent, ratio=ratio(cores))
        lines.append((message("Why"), text))
    sides = {row.runtime: row.figures for row in view.rows if _key_of(row) == _key(one) or one.between_services}
    before, after = sides.get(one.denominator), sides.get(one.numerator)
    if before and after:
        both = {"p50": (before["p50_ns"], after["p50_ns"]), "p99": (before["p99_ns"], after["p99_ns"])}
        parts = [
            message("{name} {before} → {after} us", name=name, before=microseconds(first), after=microseconds(last))
            for name, (first, last) in both.items()
            if first and last
        ]
        lines += [(message("Latency"), message("{parts}.", parts=listed(parts)))] * bool(parts)
    return lines


def _key_of(row: Row) -> tuple[str, str]:
    return setting_key(row.system, row.params)


def _against(compared: Sequence[Comparison], view: View) -> list[tuple[Message, Message]]:
    """Return the systems whose p99 moved against their throughput."""
    moved = [
        message("{system} ({denominator} → {numerator}{but})", system=view.settings.number(one.system),
                denominator=one.denominator, numerator=one.numerator, but=but)
        for one in compared if one.step in ("lock", "whole") and (but := _but(one))
    ]  # fmt: skip
    return [(message("Latency"), message("{moved}.", moved=listed(moved, SEMICOLON)))] if moved else []


def _cautions(compared: Sequence[Comparison], view: View) -> list[tuple[Message, Message]]:
    confounds = confounds_of([one for one in compared if one.verdict != "unjudged"])
    noise = max((one.noise_floor for one in compared if one.noise_floor), default=0.0)
    cautions = [
        *([message("Services and clients share {count} cores and use nearly all of them: the ratio is that of both.",
                   count=view.machine.available_cores)]
          if any((one.cores_in_use or 0) >= MOST_IN_USE for one in compared) else []),
        *([message("The clients were busy, so a service may be faster than shown.")]
          if any((one.saturation or 0) > MOST_SATURATION for one in compared) else []),
        *([message("More than the step differs: {confounds}.", confounds=listed(confounds[:MOST_CONFOUNDS]))]
          if confounds else []),
        *([message("Noise reaches {ratio}x.", ratio=ratio(1 + noise))] if noise else []),
        *([] if _is_busy(view) else
          (message("Disturbed: {reason}.", reason=one) for one in disturbances(view.run.cells))),
    ]  # fmt: skip
    return [(message("Caution"), listed(cautions, SENTENCES))] if cautions else []


def _missing(view: View) -> list[tuple[Message, Message]]:
    """Return what each missing runtime would add, and how to install it."""
    present = runtimes(view.run)
    lines = []
    for name, reason in view.run.missing.items():
        facts = view.run.runtimes
        names = {step.name for step in steps([*present, name], {}, facts)} - {
            step.name for step in steps(present, {}, facts)
        }
        added = listed((NAMES[step] for step in NAMES if step in names), COMMA, AND)
        text = message("{runtime} would also show {added}. {reason}", runtime=name, added=added, reason=reason)
        lines.append((message("Missing"), text if names else reason))
    return lines


def _next(compared: Sequence[Comparison], view: View) -> list[tuple[Message, Message]]:
    """Return the command that decides what is open, or else one that finds the cause of the largest difference."""
    undecided = [one for one in compared if one.verdict == "inconclusive" and one.blocks_needed]
    needed = [more for one in undecided if (more := (one.blocks_needed or 0) - one.blocks) <= MOST_DOZENS]
    if needed:
        command = more_blocks_command(view.run, max(needed))
        return [(message("Next"), message("To decide what is open: {command}", command=command))]
    if any(profile.get("kind") == "locks" for profile in view.run.profiles):
        return []
    most = max(compared, key=lambda one: abs(log(one.ratio)) if one.ratio else 0.0)
    chosen = f" --system {most.system}" if len({one.system for one in compared}) > 1 else ""
    command = f"{command_line(view.run, '--profile')}{chosen} --profile locks"
    return [(message("Next"), message("To find the cause: {command}", command=command))]
