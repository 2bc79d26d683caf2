"""The verdict of a run in a few sentences, how far its settings are apart, and why something is still open."""

from collections.abc import Mapping, Sequence
from operator import itemgetter

from core.messages import NOTHING, SEMICOLON, SENTENCES, Message, listed, message, verbatim
from reports.document.model import Section, bounds, interval, traced
from reports.document.values import ratio, whole_percent
from reports.facts.cells import setting_key
from reports.facts.commands import more_blocks_command
from reports.facts.comparisons import Comparison, answering
from reports.facts.pairs import OVER_ALL
from reports.facts.traces import together
from reports.statistics.verdict import amount
from reports.topics.answer import answer, gains
from reports.view import View

PLACE = 10
STEPS = ("lock", "jit", "patch", "other", "build", "version")
OPEN = ("inconclusive", "invalid")

CAUSES: Mapping[str, Message] = {
    "lock": message("Removing the GIL"),
    "build": message("The free-threaded build"),
    "jit": message("The JIT"),
    "patch": message("The patch release from {denominator} to {numerator}"),
    "version": message("{denominator} to {numerator} alone"),
    "other": message("{denominator} to {numerator} (several causes at once)"),
    "services": message("Service {numerator}, compared with {denominator},"),
    "whole": message("The whole way, {denominator} to {numerator},"),
}
CLAUSES: Mapping[str, Message] = {  # by step and verdict, or by verdict alone
    "build slower": message("{cause} costs {share}{share_bounds}."),
    "build faster": message("{cause} gives {share}{share_bounds}."),
    "version slower": message("{cause} costs {share}{share_bounds}."),
    "version faster": message("{cause} gives {share}{share_bounds}."),
    "whole slower": message("{cause} is {times} x slower{bounds}."),
    "whole faster": message("{cause} is {times} x faster{bounds}."),
    "services slower": message("Service {numerator} is {times} x slower than {denominator}{bounds}."),
    "services faster": message("Service {numerator} is {times} x faster than {denominator}{bounds}."),
    "services equivalent": message("{cause} makes no difference: {ratio}."),
    "slower": message("{cause} makes {where} {times} x slower{bounds}."),
    "faster": message("{cause} makes {where} {times} x faster{bounds}."),
    "equivalent": message("{cause} changes nothing that matters: {ratio}."),
    "inconclusive": message("{cause} has no verdict yet: {ratio}."),
    "invalid": message("{cause} has no verdict ({why})."),
    "unmeasured": message("{cause} was not measured ({why})."),
}


def section(view: View) -> Section:
    """The answer first; a terminal shows it in a form of its own."""
    first = tuple(listed((_traced(one, view) for one in some), SENTENCES) for some in answered(view.compared))
    first = first or tuple(gains(view))
    if not (first or view.plan.view):
        first = (message("Only one runtime was measured, so there is nothing to compare."),)
    sentences = tuple(filter(None, [_span(view), *_why_open(view)]))
    brief = tuple(answer(view)) if view.compared or not view.plan.view else ()
    return Section(key="verdict", title=message("Verdict"), answer=first, sentences=sentences, terminal=brief)


def _traced(comparison: Comparison, view: View) -> Message:
    words = listed(filter(None, [clause(comparison, view.compared), _made_of(comparison)]), SENTENCES)
    return traced(words, view.traces.of(comparison), "verdict")


def _made_of(comparison: Comparison) -> Message:
    """The two factors of a difference that is there; nothing where the cells do not report their CPU time."""
    if comparison.verdict not in ("faster", "slower") or not comparison.factors:
        return NOTHING
    cpu, cores = (comparison.factors[name]["ratio"] for name in ("cpu_per_request", "cores_used"))
    return message(
        "That is {ratio} x: {cpu}, {cores}.",
        ratio=ratio(cpu * cores),
        cpu=_factor(
            cpu,
            message("{times} x less CPU per request", times=ratio(cpu)),
            message("the same CPU per request"),
            message("{times} x more CPU per request", times=ratio(1 / cpu)),
        ),
        cores=_factor(
            cores,
            message("{times} x more cores", times=ratio(cores)),
            message("as many cores"),
            message("{times} x fewer cores", times=ratio(1 / cores)),
        ),
    )


def _factor(value: float, above: Message, alike: Message, below: Message) -> Message:
    """The words for a factor: one that reads 1.00 says that nothing changed."""
    if ratio(value) == ratio(1.0):
        return alike
    return above if value > 1 else below


def answered(compared: Sequence[Comparison]) -> list[list[Comparison]]:
    """Those that the verdict is on: the steps, the lock first, then the whole way. Empty where nothing is compared.

    Of several settings those over all. A step of which nothing was measured is left out, unless nothing was.
    """
    about = answering(compared)
    measured = [one for one in about if one.ratio is not None or one.verdict == "invalid"] or about
    if len({setting_key(one.system, one.params) for one in measured}) != 1:
        return []
    steps = sorted((one for one in measured if one.step in STEPS), key=lambda one: STEPS.index(one.step))
    whole = [one for one in measured if one.step == "whole"]
    return [some for some in (steps, whole) if some]


def clause(comparison: Comparison, compared: Sequence[Comparison]) -> Message:
    """A sentence on one comparison. compared: all of the run, for the settings that it speaks of."""
    step = "services" if comparison.between_services else comparison.step
    is_measured = comparison.ratio is not None or comparison.verdict == "invalid"
    verdict = comparison.verdict if is_measured else "unmeasured"
    template = CLAUSES.get(f"{step} {verdict}") or CLAUSES[verdict]
    arms = {"denominator": comparison.denominator, "numerator": comparison.numerator}
    cause = Message(msgid=CAUSES[step].msgid, args=arms)
    if "{" not in cause.msgid and _is_repeated(comparison, compared):
        cause = message("{cause} ({denominator} → {numerator})", cause=cause, **arms)
    words = {"cause": cause, "where": _where(comparison, compared), "why": comparison.why}
    said = Message(msgid=template.msgid, args={**arms, **_sizes(comparison), **words})
    if not comparison.is_beside_others or comparison.others is None:
        return said
    return message(
        "On a busy machine, where other processes used {share} of the cores: {said}",
        share=whole_percent(comparison.others),
        said=said,
    )


def _is_repeated(comparison: Comparison, compared: Sequence[Comparison]) -> bool:
    """Whether other arms are compared by a step of the same cause, as where two versions have a free-threaded build."""
    return len({(one.denominator, one.numerator) for one in compared if one.step == comparison.step}) > 1


def _where(comparison: Comparison, compared: Sequence[Comparison]) -> Message:
    """A system, or so many settings together, those that the step has a ratio of."""
    arms = (comparison.numerator, comparison.denominator)
    step = [one for one in compared if (one.numerator, one.denominator) == arms and one.ratio is not None]
    settings = {setting_key(one.system, one.params) for one in step if one.system != OVER_ALL}
    systems = {system for system, _ in settings}
    if len(settings) == 1:
        (system,) = systems
        return message("system {system}", system=system) if system.isdigit() else verbatim(system)
    if len(systems) == len(settings):
        return message("the {count} systems together", count=len(settings))
    return message("all {count} settings together", count=len(settings))


def _sizes(comparison: Comparison) -> dict[str, str]:
    """How much, with intervals: as times, as a share of time, and the ratio itself. Of what is slower, what is lost."""
    value, low, high = comparison.ratio, comparison.low, comparison.high
    if value is None:
        return {}
    times = 1 / value if value < 1 else value
    sizes = {"times": ratio(times), "share": whole_percent(times - 1), "ratio": ratio(value)}
    if low is None or high is None:
        return {**sizes, "bounds": "", "share_bounds": ""}
    least, most = (1 / high, 1 / low) if value < 1 else (low, high)
    is_range = comparison.is_range
    return {
        **sizes,
        "ratio": interval(value, low, high, ratio, is_range=is_range),
        "bounds": f" {bounds(least, most, ratio, is_range=is_range)}",
        "share_bounds": f" {bounds(least - 1, most - 1, whole_percent, is_range=is_range)}",
    }


def _span(view: View) -> Message:
    """How far the settings are apart in what removing the lock does; nothing for fewer than two."""
    known = [(one.ratio, one) for one in view.compared if one.step == "lock" and one.ratio and one.system != OVER_ALL]
    if len(known) < 2:
        return NOTHING
    (low, least), (high, most) = min(known, key=itemgetter(0)), max(known, key=itemgetter(0))
    return message(
        "Depending on the setting, removing the GIL gives from {low} x ({low_where}) to {high} x ({high_where}).",
        low=traced(ratio(low), view.traces.of(least), "ratio"),
        high=traced(ratio(high), view.traces.of(most), "ratio"),
        low_where=view.settings.short(least.system, least.params),
        high_where=view.settings.short(most.system, most.params),
    )


def _why_open(view: View) -> list[Message]:
    """Each obstacle of the steps that the verdict is on once, and how many more blocks they take."""
    undecided = [one for one in answering(view.compared) if one.step != "aa" and one.verdict in OPEN]
    whys: dict[Message, list[Comparison]] = {}
    for comparison in undecided:
        if comparison.verdict == "invalid" and comparison.obstacle == comparison.why:  # its clause has said it
            continue
        is_hopeless = comparison.verdict == "inconclusive" and comparison.blocks_needed is None
        whys.setdefault(comparison.why if is_hopeless else comparison.obstacle, []).append(comparison)
    reasons = [traced(why, together(map(view.traces.of, about))) for why, about in whys.items()]
    needed = [one for one in undecided if one.blocks_needed is not None]
    return [
        *([message("Why no verdict yet: {reasons}.", reasons=listed(reasons, SEMICOLON))] if reasons else []),
        *([_more_blocks(needed, view)] if needed else []),
    ]


def _more_blocks(needed: Sequence[Comparison], view: View) -> Message:
    more = [(one.blocks_needed or 0) - one.blocks for one in needed]
    first, last = amount(min(more)), amount(max(more))
    cells = together(map(view.traces.of, needed))
    command = more_blocks_command(view.run, max(more))
    if first == last:
        return message("It takes {amount} more blocks: {command}", amount=traced(last, cells), command=command)
    return message(
        "It takes {last} more blocks for all verdicts, {first} for the first: {command}",
        last=traced(last, cells), first=first, command=command,
    )  # fmt: skip
