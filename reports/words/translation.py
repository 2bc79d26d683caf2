"""The sentences of a report in another language than English.

Reports are made in English. said() gives a sentence of theirs in another language by the phrases that it was made
from; where it does not know one of them, the whole sentence stays English.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from reports.words.phrases import PHRASES, PLACES

JOINTS = {"en": ("; ", "."), "zh": ("；", "。")}
COMMAS = {"zh": "、"}
ANSWERS = {"zh": {"yes": "是", "no": "否", "unknown": "未知"}}

NUMBER = r"[-+±]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
FIGURE = rf"{NUMBER}(?: ?(?:%|s|B|KiB|MiB))?"
ARM = r"[^\s:;,]+(?: again)?"
OF_SETTING = r"[Ss]ystem \S+|[A-Z][A-Z0-9]*_[A-Z0-9_]+(?: [^\s,:]+)?|(?:3\.\d+|native)[^\s:;,]*(?: again)?"
ABOUT = rf"(?:{OF_SETTING})(?:, (?:{OF_SETTING}))*"

# What a {name} in a phrase stands for, where that is no phrase itself but text that is the same in every language.
_FIGURES = (
    *(
        "all",
        "all_again",
        "alpha",
        "block",
        "blocks_in_all",
        "count",
        "family",
        "fewest",
        "floor",
        "high",
        "jain",
        "least",
        "limit",
    ),
    *("load", "low", "margin", "more", "most", "other_count", "p", "scale", "seconds", "seed", "share", "sharers"),
    *("some", "threads", "times", "value"),
)
_NAMES = (
    *("arms", "command", "compiler", "day", "gil", "lock", "machine", "module", "name", "nogil", "other_compiler"),
    *("other_day", "other_version", "path", "plan", "run", "runtimes", "setting", "version"),
)
SAME_TEXT = {
    **dict.fromkeys(_FIGURES, FIGURE),
    **dict.fromkeys(_NAMES, "[^;]+?"),
    **dict.fromkeys(("arm", "other_arm", "system"), ARM),
    **dict.fromkeys(("shape", "other_shape"), r"\d+ x \d+"),
    **dict.fromkeys(("cpus", "ahead", "swept"), r"\d+(?:, \d+)*"),
    "builds": r".+ \([^()]*\)",
    "parameter": "[A-Z_]+",
    "flag": "pgo|lto|shared|debug|tail_call|jit",
    "interval": rf"{FIGURE}(?: \[{FIGURE}, {FIGURE}\])?",
}
ANY_TEXT = ("reason", "other_reason", "why", "remedy")  # a phrase, or what a failed process said
LISTS = ("confounds", "disturbances", "places")  # of phrases


def said(sentence: str, lang: str) -> str:
    """A sentence of a report in *lang*; as it is, where the language is English or a part of it is not known."""
    return sentence if lang == "en" or not sentence else _told(sentence, lang) or sentence


def said_together(sentences: Iterable[str], lang: str) -> str:
    """Several sentences of a report in *lang*, as one with semicolons."""
    return JOINTS[lang][0].join(said(one, lang) for one in sentences)


@lru_cache(maxsize=4096)
def _told(text: str, lang: str) -> str | None:
    """*text* in *lang*, if all of it is known: a figure, a phrase, or several of these one after the other."""
    if re.fullmatch(FIGURE, text):
        return text
    whole = PHRASES[lang].get(text)
    if whole is not None:
        return whole
    if text.endswith(".") and (sentence := _told(text[:-1], lang)) is not None:
        return f"{sentence}{JOINTS[lang][1]}"
    for pattern, template in _patterns(lang):
        match = pattern.fullmatch(text)
        parts = {name: _part(name, part, lang) for name, part in match.groupdict().items()} if match else {"": None}
        if None not in parts.values():
            return template.format(**parts)
    return _several(text, lang)


def _part(name: str, text: str, lang: str) -> str | None:
    """What stands for {name} in a phrase; None if it is not known."""
    if name == "about":
        return re.sub(r"[Ss]ystem ([^\s,]+)", lambda match: PLACES[lang]["one"].format(system=match[1]).strip(), text)
    if name == "builds":  # 'yes (3.11), no (3.14, 3.14t)', 'GCC 13 (3.11), Clang 18 (3.14)'
        return re.sub(r"\b(yes|no|unknown)(?= \()", lambda match: ANSWERS[lang][match[1]], text)
    if name in LISTS:
        listed = [_told(one, lang) for one in re.split(r", (?![^(]*\))", text)]
        return None if None in listed else COMMAS[lang].join(filter(None, listed))
    if name in SAME_TEXT:
        return text
    return _told(text, lang) or (text if name in ANY_TEXT else None)


def _several(text: str, lang: str) -> str | None:
    """Phrases with semicolons or commas between them."""
    for between, joint in ((r"(?<=[^,]); ", JOINTS[lang][0]), (", ", COMMAS[lang])):
        parts = re.split(between, text)
        if len(parts) == 1:
            continue
        known = [None if re.fullmatch(FIGURE, part) else _told(part, lang) for part in parts]
        if None not in known:
            return joint.join(filter(None, known))
    return None


@cache
def _patterns(lang: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Every phrase that has a {name}, as a pattern."""
    return tuple((re.compile(_pattern(english)), told) for english, told in PHRASES[lang].items() if "{" in english)


def _pattern(english: str) -> str:
    def some_text(match: re.Match[str]) -> str:
        name = match[1]
        return f"(?P<{name}>{ABOUT if name == 'about' else SAME_TEXT.get(name, '.+?')})"

    return re.sub(r"\\\{([a-z_]+)\\\}", some_text, re.escape(english))
