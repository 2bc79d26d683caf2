"""The verdict of a run in one or two sentences, and the sentences of a report in another language than English.

Reports are made in English. said() gives a sentence of theirs in another language by the phrase that it was made
from; what it does not know stays as it is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from reports.arms import are_arms
from reports.comparisons import OVER_ALL, Comparison
from reports.phrases import CAUSES, CLAUSES, PHRASES, PLACES
from reports.summary import setting_key

LANGUAGES = ("en", "zh")
STEPS = ("lock", "other", "build", "version")
JOINTS = {"en": ("; ", "."), "zh": ("；", "。")}
SMALL = 0.1
BETWEEN_ARMS = "arms"
SOME_TEXT = "(?:(?!; ).)+?"
OTHER_TEXTS = {  # what stands for a {name} in a phrase, where it is not text up to a semicolon
    **dict.fromkeys(("why", "reason", "what", "rest"), ".+?"),
    **dict.fromkeys(("count", "threads", "all"), r"[0-9,]+"),
    "arm": r"\S+?(?: again)?",
    "cpus": "[0-9, ]*[0-9]",
}


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A part of a sentence, the comparison that it tells of, and what follows it: a joint or a full stop."""

    text: str
    comparison: Comparison
    end: str


def verdict(compared: Sequence[Comparison], lang: str = "en") -> list[list[Clause]]:
    """The whole answer, sentence by sentence: what each step does over all settings, then what all do together.

    Empty where nothing was compared.
    """
    told = [one for one in compared if one.system == OVER_ALL] or list(compared)
    if len({setting_key(one.system, one.params) for one in told}) != 1:
        return []
    where = _where(compared, lang)
    steps = sorted((one for one in told if one.step in STEPS), key=lambda one: STEPS.index(one.step))
    whole = [one for one in told if one.step == "whole"]
    return [_sentence(some, where, lang) for some in (steps, whole) if some]


def _sentence(some: Sequence[Comparison], where: str, lang: str) -> list[Clause]:
    joint, stop = JOINTS[lang]
    ends = [joint] * (len(some) - 1) + [stop]
    texts = [_clause(one, where, lang) for one in some]
    texts[0] = texts[0][0].upper() + texts[0][1:]
    return [Clause(text=text, comparison=one, end=end) for text, one, end in zip(texts, some, ends, strict=True)]


def _where(compared: Sequence[Comparison], lang: str) -> str:
    """What the sentences speak of: a system, or so many settings together."""
    settings = {setting_key(one.system, one.params) for one in compared if one.system != OVER_ALL}
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


def _share(size: float) -> str:
    return f"{size - 1:.0%}".replace("%", "\N{NO-BREAK SPACE}%").replace("-", "\N{MINUS SIGN}")


def _bracket(ends: Iterable[str]) -> str:
    text = ", ".join(ends)
    return f" [{text}]" if text else ""


def said(sentence: str, lang: str) -> str:
    """A sentence of a report in *lang*; as it is, where the language is English or the sentence is not known."""
    if lang == "en" or not sentence:
        return sentence
    whole = PHRASES.get(lang, {}).get(sentence)
    if whole is not None:
        return whole
    for pattern, template in _patterns(lang):
        match = pattern.fullmatch(sentence)
        if match:
            return template.format(**{name: said(text, lang) for name, text in match.groupdict().items()})
    parts = re.split(r"(?<=[^,]); ", sentence)
    return JOINTS[lang][0].join(said(part, lang) for part in parts) if len(parts) > 1 else sentence


def said_together(sentences: Iterable[str], lang: str) -> str:
    """Several sentences of a report in *lang*, as one with semicolons."""
    return JOINTS[lang][0].join(said(one, lang) for one in sentences)


@cache
def _patterns(lang: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    phrases: Mapping[str, str] = PHRASES.get(lang, {})
    return tuple((re.compile(_pattern(english)), template) for english, template in phrases.items())


def _pattern(english: str) -> str:
    """An English phrase as a pattern: {name} stands for some text, which goes beyond a semicolon only in a few."""

    def some_text(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}>{OTHER_TEXTS.get(match[1], SOME_TEXT)})"

    return re.sub(r"\\\{([a-z_]+)\\\}", some_text, re.escape(english))
