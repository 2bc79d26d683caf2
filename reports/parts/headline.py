"""The headline of a run: the sentence that states the result of its main comparison.

parts/answer.py, parts/swept_values.py and sections/verdict.py of reports/ use it, and so does
commands/running.py for --fail-if-slower. A comparison (analysis/comparison_words.py) divides the
throughput of the numerator by that of the denominator, and latency percentiles the other way round:
above 1, the numerator is better. Its step says in what the two runtimes differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from analysis.cell_index import grouped
from analysis.comparison_words import AT_RATE_TAILS, Comparison, answering
from analysis.formats import ratio, whole_percent
from analysis.gates import FAILED
from analysis.others import MOST_BUSY
from analysis.settings import SHAPE, place_in_plan, system_name, varying
from core.languages import ENGLISH
from core.messages import (
    AND,
    COMMA,
    NOTHING,
    SEMICOLON,
    Arg,
    Message,
    listed,
    message,
)
from record.comparison import DECIDED, DIFFERENT
from reports.document import ABSENT
from reports.parts.comparison_table import ratio_datum
from reports.view import View

CAUSES = {  # by step: what it changes; a step without an entry gets no such words
    "lock": message("removing the GIL"),
    "build": message("the free-threaded build"),
    "jit": message("enabling the JIT"),
    "patch": message("the newer patch release"),
    "version": message("the newer Python version"),
    "other": message("{numerator} instead of {denominator} ({causes})"),
}
# steps, the one that a headline prefers first; those of values and of best settings are never here
MAIN = ("whole", "patch", "other", "lock", "jit", "build", "version", "aa")
SERVES = {  # by verdict, or unmeasured if there is no ratio
    "faster": message("{setting}: {numerator} serves {ratio} the requests of {denominator}{but}."),
    "slower": message(
        "{setting}: {numerator} serves only {ratio} the requests of {denominator}{but}."
    ),
    "equivalent": message(
        "{setting}: {numerator} and {denominator} have equivalent throughput: {ratio}{but}."
    ),
    "inconclusive": message(
        "{setting}: inconclusive: {numerator} serves {ratio} the requests of {denominator} "
        "({doubt}){but}."
    ),
    "invalid": message("{setting}: {numerator} cannot be compared with {denominator}: {why}."),
    "unjudged": message(
        "{setting}: {numerator} serves {ratio} the requests of {denominator}{but}. The plan asks "
        "for no verdict on this comparison."
    ),
    "unmeasured": message(
        "{setting}: {numerator} and {denominator} were not both measured: {why}."
    ),
}
TAIL_WORDS = {  # by the verdict on a percentile of latency
    "slower": message("{name} is {share} higher"),
    "faster": message("{name} is {share} lower"),
    "equivalent": message("{name} is equivalent"),
    "inconclusive": message("{name} is inconclusive"),
    "invalid": message("{name} has no verdict"),
}
FEWEST_SETTINGS = 2  # for a headline that names the lowest and the highest ratio
MOST_ROUTES = 3  # that a headline names
EFFECTS = {  # what a step does, by verdict
    "faster": message("raises throughput in {systems}"),
    "slower": message("lowers throughput in {systems}"),
    "equivalent": message("hardly changes throughput in {systems}"),
    "inconclusive": message("has an inconclusive effect in {systems}"),
    "invalid": message("has no valid measurement of its effect in {systems}"),
}
EFFECTS_BY_PROCESSES = {  # whether the step removes the GIL, and whether there is only one process
    (True, True): message("With one process, removing the GIL {found}."),
    (True, False): message("With {count} processes, one for each core, removing the GIL {found}."),
    (False, True): message("With one process, moving from {denominator} to {numerator} {found}."),
    (False, False): message(
        "With {count} processes, one for each core, moving from {denominator} to {numerator} "
        "{found}."
    ),
}
CLAUSE = message("{start}, and {end}")  # joins the last clause of a sentence


def main_comparison(compared: Sequence[Comparison]) -> Comparison | None:
    """Return the comparison that the report's headline states: usually that of the first runtime
    with the last.

    With several settings, it is the comparison over all settings. None if there are several
    settings and none over all. A step without measurements counts only if no step was measured.
    """
    about = answering(compared)
    measured = [one for one in about if one.ratio is not None or one.verdict == "invalid"] or about
    if len({one.key for one in measured}) != 1:
        return None
    return min((one for one in measured if one.step != "aa"), key=rank, default=None)


def main_headline(compared: Sequence[Comparison], names: Mapping[str, str]) -> Message:
    """Return the headline of a run, or NOTHING if no comparison stands for it.

    A mean over topologies or over the values of a swept parameter answers nothing, so the settings
    with the extreme ratios stand for it.
    names: as View.headings returns them
    """
    main = main_comparison(compared)
    steps = [
        one
        for one in compared
        if one.ratio and not one.is_over_all and one.step != "aa" and one.verdict != "invalid"
    ]
    step = main.step if main else min((one.step for one in steps), key=MAIN.index, default="")
    at_settings = [one for one in steps if one.step == step]
    telling = varying(at_settings)
    is_own = any(one.system in names and not one.system.isdigit() for one in at_settings)
    is_topology = is_own and {*telling} <= {*SHAPE}
    is_swept = main is None or (main.is_over_all and is_topology)
    if (
        len(at_settings) < FEWEST_SETTINGS
        or len({one.system for one in at_settings}) > 1
        or not is_swept
    ):
        return headline(main, names) if main else NOTHING
    return _over_values(at_settings, names, telling, is_own=is_own)


def _over_values(
    at_settings: Sequence[Comparison],
    names: Mapping[str, str],
    telling: Sequence[str],
    *,
    is_own: bool,
) -> Message:
    """Return a headline on settings that differ in the parameters *telling*: the lowest and the
    highest ratio, or the one ratio and verdict of all.
    """
    lowest, *_, highest = sorted(at_settings, key=lambda one: one.ratio or 0.0)
    is_topology, by = is_own and {*telling} <= {*SHAPE}, listed(telling, COMMA, AND)
    parts: dict[str, Any] = {
        "name": _in_company(system_name(lowest.system, names), lowest),
        "numerator": lowest.numerator,
        "denominator": lowest.denominator,
    }
    if len({(ratio(one.ratio or 0.0), one.verdict) for one in at_settings}) == 1:
        everywhere = message("at every value of {names}", names=by)
        where = message("in every topology") if is_topology else everywhere
        share = f"{ratio(lowest.ratio or 0.0)}x"
        return message(
            "{name}: {numerator} serves {share} the requests of {denominator} {where}.",
            **parts, share=share, where=_judged(where, lowest),
        )  # fmt: skip
    low, high = (
        _judged(place_in_plan(one.params, telling, is_own=is_own), one) for one in (lowest, highest)
    )
    return message(
        "{name}: {numerator} serves {low} ({least}) to {high} ({most}) the requests of "
        "{denominator}, depending on {cause}.",
        **parts, low=ratio_text(lowest), least=low, high=ratio_text(highest), most=high,
        cause=message("the topology") if is_topology else by,
    )  # fmt: skip


def _judged(place: Message | str, one: Comparison) -> Message | str:
    """Return the *place* of a comparison, followed by its verdict if that is no answer."""
    if one.verdict in DECIDED:
        return place
    return message("{place}, {verdict}", place=place, verdict=one.word)


def rank(one: Comparison) -> int:
    """Return a comparison's rank in MAIN, the order in which comparisons are preferred for the
    headline; 0 is the first. Raises ValueError for a step that MAIN lacks, such as value.
    """
    return MAIN.index(one.step)


def headline(one: Comparison, names: Mapping[str, str]) -> Message:
    """Return a sentence that states the result of comparing two runtimes, such as '3.14t serves
    1.31x the requests'.

    names: as View.headings returns them
    """
    setting = _subject(one, names)
    if one.is_at_rate and one.verdict != "invalid":
        return _headline_at_rate(one, _in_company(setting, one))
    arms: dict[str, Arg] = {"numerator": one.numerator, "denominator": one.denominator}
    if one.step in CAUSES and not one.between_services:
        cause = replace(CAUSES[one.step], args={**arms, "causes": one.step_name})
        setting = message("{setting}, {cause}", setting=setting, cause=cause)
    # chance does not explain an interval that excludes 1, so the sentence names the obstacle
    is_excluded = one.low is not None and one.high is not None and not one.low <= 1 <= one.high
    args: dict[str, Arg] = {
        **arms,
        # of failed cells only their number, because their reason can be long
        "why": one.why.args.get("failures", one.why) if one.why.code == FAILED else one.why,
        "setting": _in_company(setting, one),
        "ratio": ratio_text(one),
        "doubt": one.obstacle if is_excluded else message("the difference may be chance"),
        "but": _but(one),
    }
    word = one.verdict if one.ratio is not None or one.verdict == "invalid" else "unmeasured"
    return replace(SERVES[word], args=args)


def _in_company(said: Message, one: Comparison) -> Message:
    """Return *said* with the words that the machine was busy, or that other processes ran, if they
    did.
    """
    if (one.others or 0.0) > MOST_BUSY:
        return message("{setting}, on a busy machine", setting=said)
    return (
        message("{setting}, while other processes used the CPU", setting=said)
        if one.is_beside_others
        else said
    )


def _but(one: Comparison) -> Message:
    """Return the clause on an opposed p99 latency, whose conjunction says whether throughput points
    the same way, and on opposed routes.
    """
    p99, routes = opposed_p99(one), opposed_routes(one)
    if not p99:
        return message(", but {routes}", routes=routes) if routes else NOTHING
    is_worse, is_lower = one.tails["p99"].verdict == "slower", (one.ratio or 1.0) < 1
    said = (
        message(", and {p99}", p99=p99) if is_worse == is_lower else message(", but {p99}", p99=p99)
    )
    return message("{said}, and {routes}", said=said, routes=routes) if routes else said


def _headline_at_rate(one: Comparison, setting: Message) -> Message:
    """Return a sentence on latency, because at a fixed rate every service that keeps up has the
    same throughput.
    """
    return message(
        "{setting}, requests at a fixed rate, {denominator} → {numerator}: {latency}.",
        setting=setting, denominator=one.denominator, numerator=one.numerator,
        latency=tails_text(one) or message("the latencies could not be compared"),
    )  # fmt: skip


def tails_text(one: Comparison) -> Message:
    """Return text on the change of the latency percentiles p50 and p99 by their verdicts; empty if
    unknown.
    """
    return listed(
        [_tail_words(one, name) for name in AT_RATE_TAILS if name in one.tails], COMMA, AND
    )


def _subject(one: Comparison, names: Mapping[str, str]) -> Message:
    """Return the name of the compared system, or the number of systems or settings that a geometric
    mean covers.
    """
    systems, count = {setting.system for setting in one.settings} or {one.system}, len(one.settings)
    if count <= 1:
        return system_name(next(iter(systems)), names)
    if len(systems) == count:
        return message("Geometric mean over {count} systems", count=count)
    return message("Geometric mean over {count} settings", count=count)


def _tail_words(one: Comparison, name: str) -> Message:
    """Return a clause on the change of a latency percentile, as its verdict has it.

    name: a key of the comparison's tails
    """
    tail = one.tails[name]
    # a ratio above 1 means less latency, so the latency itself changes by the factor 1 / ratio
    change = abs(1 / tail.ratio - 1) if tail.ratio else 0.0
    return replace(TAIL_WORDS[tail.verdict], args={"name": name, "share": whole_percent(change)})


def opposed_p99(one: Comparison) -> Message:
    """Return a clause if only p99 latency is worse, or if p99 is better although throughput is
    worse; else NOTHING.
    """
    p99 = one.tails.get("p99")
    if (
        not p99
        or p99.verdict not in DIFFERENT
        or (p99.verdict == "slower") == (one.verdict == "slower")
    ):
        return NOTHING
    return _tail_words(one, "p99")


def opposed_routes(one: Comparison) -> Message:
    """Return a clause on the routes whose speed contradicts the verdict on throughput, at most
    MOST_ROUTES of them; NOTHING if there are none.
    """
    said = [
        message(
            "{route} is answered at {ratio}x the speed",
            route=name,
            ratio=ratio(one.routes[name].ratio or 0.0),
        )
        for name in one.opposed_routes[:MOST_ROUTES]
    ]
    return listed(said, COMMA, AND)


def opposed(one: Comparison) -> Message:
    """Return the clauses of opposed_p99() and opposed_routes(); NOTHING if there are none."""
    return listed(filter(None, [opposed_p99(one), opposed_routes(one)]), COMMA, AND)


def ratio_text(one: Comparison) -> str:
    """Return a ratio with its interval, such as '1.31x [1.26, 1.37]', or a dash if the comparison
    is invalid.
    """
    if one.verdict == "invalid":
        return ABSENT
    # numbers are written alike in all languages; the x stands between the ratio and its interval
    value, space, bounds = ratio_datum(one).text(ENGLISH).partition(" ")
    return value if value == ABSENT else f"{value}x{space}{bounds}"


def by_setting(compared: Iterable[Comparison]) -> list[list[Comparison]]:
    """Return those of *compared* that are about a single setting, as one list for each setting."""
    return [*grouped((one for one in compared if not one.is_over_all), attrgetter("key")).values()]


def measured_steps(view: View) -> list[Comparison]:
    """Return the measured comparisons of two runtimes in one setting, without means over all
    settings.
    """
    return [
        one
        for one in view.comparisons
        if not one.is_over_all and (one.ratio or one.verdict == "invalid")
    ]


def gains(view: View) -> list[Message]:
    """Return sentences on the effect of removing the GIL: with one process, and with one process
    for each core.

    If no step removes the GIL alone, and there is no mean over the settings, return the effect of
    the first of MAIN.
    """
    measured, step = measured_steps(view), "lock"
    if measured and all(not one.is_over_all for one in view.comparisons):
        step = min((one.step for one in measured), key=("lock", *MAIN).index)
    judged = [one for one in measured if one.step == step and one.verdict in EFFECTS]
    sentences = []
    for count in dict.fromkeys((1, view.machine.available_cores)):
        some = [one for one in judged if one.params.get("NUM_API_SERVICES") == count]
        clauses = [*_effects(some, view)]
        # a sentence names each system once, so it cannot state several settings of one system
        if clauses and len({one.system for one in some}) == len(some):
            args: dict[str, Arg] = {"count": count, "found": listed(clauses, SEMICOLON, CLAUSE)}
            if step != "lock":
                args |= {"denominator": some[0].denominator, "numerator": some[0].numerator}
            said = replace(EFFECTS_BY_PROCESSES[step == "lock", count == 1], args=args)
            is_busy = any((one.others or 0.0) > MOST_BUSY for one in some)
            sentences.append(message("On a busy machine: {said}", said=said) if is_busy else said)
    return sentences


def _effects(some: Sequence[Comparison], view: View) -> Iterator[Message]:
    """Yield a clause for each verdict on *some* comparisons, with the systems that have it and
    their ratios.
    """
    for verdict, template in EFFECTS.items():
        systems = [
            message(
                "{system} ({ratio})", system=view.settings.number(one.system), ratio=ratio_text(one)
            )
            for one in some
            if one.verdict == verdict
        ]
        if systems:
            yield replace(template, args={"systems": listed(systems, COMMA, AND)})
