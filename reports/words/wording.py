"""The verdict of a run in one or two sentences, for the page, the terminal, the list and findings.md."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.rows.arms import are_arms
from reports.rows.columns import ABSENT
from reports.rows.comparisons import OVER_ALL, Comparison
from reports.rows.summary import setting_key
from reports.words.phrases import CAUSES, CLAUSES, PLACES
from reports.words.translation import JOINTS, said

LANGUAGES = ("en", "zh")
STEPS = ("lock", "other", "build", "version")
SMALL = 0.1
BETWEEN_ARMS = "arms"


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A part of a sentence, the comparison that it tells of, and what follows it: a joint or a full stop."""

    text: str
    comparison: Comparison
    end: str


def verdict(compared: Sequence[Comparison], lang: str = "en") -> list[list[Clause]]:
    """The whole answer, sentence by sentence: what each step does over all settings, then what all do together.

    A step of which nothing was measured is left out. Empty where nothing was compared.
    """
    told = _measured([one for one in compared if one.system == OVER_ALL] or compared)
    if len({setting_key(one.system, one.params) for one in told}) != 1:
        return []
    steps = sorted((one for one in told if one.step in STEPS), key=lambda one: STEPS.index(one.step))
    whole = [one for one in told if one.step == "whole"]
    return [_sentence(some, compared, lang) for some in (steps, whole) if some]


def _measured(some: Sequence[Comparison]) -> list[Comparison]:
    """Those of which something was measured; all, where nothing was."""
    return [one for one in some if one.ratio is not None or one.verdict == "invalid"] or list(some)


def verdict_lines(compared: Sequence[Comparison], lang: str = "en") -> list[str]:
    """The sentences of verdict() as text."""
    return ["".join(f"{clause.text}{clause.end}" for clause in sentence) for sentence in verdict(compared, lang)]


def _sentence(some: Sequence[Comparison], compared: Sequence[Comparison], lang: str) -> list[Clause]:
    joint, stop = JOINTS[lang]
    ends = [joint] * (len(some) - 1) + [stop]
    texts = [_clause(one, _where(one, compared, lang), lang) for one in some]
    texts[0] = texts[0][0].upper() + texts[0][1:]
    return [Clause(text=text, comparison=one, end=end) for text, one, end in zip(texts, some, ends, strict=True)]


def _where(told: Comparison, compared: Sequence[Comparison], lang: str) -> str:
    """What a clause speaks of: a system, or so many settings together, those that its step has a ratio of."""
    step = [one for one in compared if (one.numerator, one.denominator) == (told.numerator, told.denominator)]
    settings = {setting_key(one.system, one.params) for one in step if one.system != OVER_ALL and one.ratio is not None}
    systems = {system for system, _ in settings}
    if len(settings) == 1:
        (system,) = systems
        return PLACES[lang]["one"].format(system=system) if system.isdigit() else system
    kind = "systems" if len(systems) == len(settings) else "settings"
    return PLACES[lang][kind].format(count=len(settings))


def _clause(one: Comparison, where: str, lang: str) -> str:
    step = BETWEEN_ARMS if one.step == "other" and are_arms(one.denominator) else one.step
    cause = CAUSES[lang][step].format(denominator=one.denominator, numerator=one.numerator)
    clauses = CLAUSES[lang]
    told = one.verdict if one.ratio is not None or one.verdict == "invalid" else "unmeasured"
    template = clauses.get(f"{step} {told}") or clauses[told]
    return template.format(
        cause=cause,
        where=where,
        denominator=one.denominator,
        numerator=one.numerator,
        why=said(one.why.rstrip("."), lang),
        ratio="" if one.ratio is None else ratio_text(one.ratio),
        **_sizes(one),
    )


def _sizes(one: Comparison) -> dict[str, str]:
    """How much: as times, as a share of time, and the interval of each. slower: of what is lost."""
    if one.ratio is None:
        return dict.fromkeys(("times", "share", "span", "share_span"), "")
    slower = one.ratio < 1
    ends = [] if one.low is None or one.high is None else [one.low, one.high]
    losses = sorted(1 / end for end in ends) if slower else ends
    size = 1 / one.ratio if slower else one.ratio
    return {
        "times": ratio_text(size),
        "share": _share(size),
        "span": _bracket(map(ratio_text, losses if one.verdict in ("faster", "slower") else ends)),
        "share_span": _bracket(map(_share, losses)),
    }


def ratio_text(value: float) -> str:
    """A ratio with as many digits as it bears."""
    return f"{value:.2f}" if value >= SMALL else f"{value:.2g}"


def figures(one: Comparison) -> str:
    """Ratio and interval of a comparison: '1.31 [1.26, 1.37]'; '-' where it has no ratio."""
    if one.ratio is None:
        return ABSENT
    if one.low is None or one.high is None:
        return f"{ratio_text(one.ratio)} [no interval]"
    return f"{ratio_text(one.ratio)} [{ratio_text(one.low)}, {ratio_text(one.high)}]"


def _share(size: float) -> str:
    return f"{size - 1:.0%}".replace("%", "\N{NO-BREAK SPACE}%").replace("-", "\N{MINUS SIGN}")


def _bracket(ends: Iterable[str]) -> str:
    text = ", ".join(ends)
    return f" [{text}]" if text else ""
