"""The section "Verdict" of a report: the answer, the spread over settings, and reasons for open verdicts."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

from core.messages import NOTHING, SEMICOLON, SENTENCES, Message, chained, listed, message
from reports.document.model import Section, traced
from reports.document.values import ratio
from reports.facts.cells import setting_key
from reports.facts.commands import more_blocks_command
from reports.facts.comparisons import Comparison, answering
from reports.facts.pairs import OVER_ALL
from reports.facts.traces import together
from reports.statistics.verdict import amount
from reports.topics.answer import ONLY_ONE, answer, gains, headline, made_of
from reports.topics.comparisons import more_blocks
from reports.view import View

PLACE = 10
STEPS = ("lock", "jit", "patch", "other", "build", "version")
OPEN = ("inconclusive", "invalid")


def section(view: View) -> Section:
    """Return the section with the answer and open questions. A terminal shows the answer in another form."""
    first = tuple(
        listed((_comparison_sentence(one, view) for one in some), SENTENCES)
        for some in verdict_comparisons(view.compared)
    )
    first = first or tuple(gains(view))
    if not (first or view.plan.view):
        first = (ONLY_ONE,)
    sentences = tuple(filter(None, [_spread_sentence(view), *_open_sentences(view)]))
    brief = tuple(answer(view)) if view.compared or not view.plan.view else ()
    return Section(key="verdict", title=message("Verdict"), answer=first, sentences=sentences, terminal=brief)


def _comparison_sentence(comparison: Comparison, view: View) -> Message:
    """Return the headline of a comparison and, for a difference, its parts: cores in use and CPU time."""
    both = [headline(comparison, view.compared)]
    if comparison.verdict in ("faster", "slower"):
        both.append(made_of(comparison))
    return traced(chained(both, SENTENCES), view.traces.of(comparison), "verdict")


def verdict_comparisons(compared: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return the comparisons that the verdict names: the steps, with the GIL first, then first against last runtime.

    With several settings, these are the comparisons over all settings. Empty if nothing is compared.
    Steps without measurements are left out, unless no step was measured.
    """
    about = answering(compared)
    measured = [one for one in about if one.ratio is not None or one.verdict == "invalid"] or about
    if len({setting_key(one.system, one.params) for one in measured}) != 1:
        return []
    steps = sorted((one for one in measured if one.step in STEPS), key=lambda one: STEPS.index(one.step))
    whole = [one for one in measured if one.step == "whole"]
    return [some for some in (steps, whole) if some]


def _spread_sentence(view: View) -> Message:
    """Return the lowest and highest ratio of removing the GIL over the settings; NOTHING for fewer than two."""
    known = [(one.ratio, one) for one in view.compared if one.step == "lock" and one.ratio and one.system != OVER_ALL]
    if len(known) < 2:
        return NOTHING
    (low, least), (high, most) = min(known, key=itemgetter(0)), max(known, key=itemgetter(0))
    return message(
        "Removing the GIL gives {low}x to {high}x the throughput, depending on the setting: the least for "
        "{low_where}, the most for {high_where}.",
        low=traced(ratio(low), view.traces.of(least), "ratio"),
        high=traced(ratio(high), view.traces.of(most), "ratio"),
        low_where=view.settings.short(least.system, least.params),
        high_where=view.settings.short(most.system, most.params),
    )


def _open_sentences(view: View) -> Iterator[Message]:
    """Yield the distinct reasons for open verdicts, then the number of blocks that they need."""
    undecided = [one for one in answering(view.compared) if one.step != "aa" and one.verdict in OPEN]
    whys: dict[Message, list[Comparison]] = {}
    for one in undecided:
        is_hopeless = one.verdict == "inconclusive" and one.blocks_needed is None
        if one.verdict != "invalid" or one.obstacle != one.why:  # otherwise its headline has the reason
            whys.setdefault(one.why if is_hopeless else one.obstacle, []).append(one)
    if whys:
        reasons = (traced(why, together(map(view.traces.of, about))) for why, about in whys.items())
        yield message("Why no verdict yet: {reasons}.", reasons=listed(reasons, SEMICOLON))
    if needed := [one for one in undecided if one.blocks_needed]:
        yield _more_blocks_sentence(needed, view)


def _more_blocks_sentence(needed: Sequence[Comparison], view: View) -> Message:
    more = more_blocks(needed)
    first, last = amount(min(more)), amount(max(more))
    most = traced(last, together(map(view.traces.of, needed)))
    command = more_blocks_command(view.run, max(more))
    if first == last:
        return message("A verdict needs {amount} more blocks: {command}", amount=most, command=command)
    return message(
        "The first verdict needs {first} more blocks, and all verdicts together need {last}: {command}",
        last=most, first=first, command=command,
    )  # fmt: skip
