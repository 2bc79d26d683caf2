"""A document as lines of facts: structure, numbers and arguments, and the data of its figures; no words, no pictures.

Whoever rewords a sentence changes none of them.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from core.messages import Message
from reports.document import Document, Figure, Flame, Panel, Section, Table, Traced

BLOCKS = (Document, Section, Figure, Flame, Panel, Table)  # a line for each of their fields
CELLS = re.compile(r"(\S+-[0-9a-f]{8}( |$))+")
WHOLE_LINES, FIRST_LINES = 4, 2
MOST_WORDS, WHOLE_TEXT = 3, 48


def digest(*values: object) -> str:
    """Return eight hexadecimal digits that change when *values* do."""
    return hashlib.sha256("\n".join(map(str, values)).encode()).hexdigest()[:8]


def elided(lines: Sequence[str], most: int, first: int, others: str = "{} more lines") -> list[str]:
    """Return the lines; of more than *most* the first ones, and a digest of the others."""
    if len(lines) <= most:
        return [*lines]
    return [*lines[:first], f"{others.format(len(lines) - first)} {digest(*lines[first:])}"]


def facts(block: Any, place: str = "document") -> Iterator[str]:
    """Yield the facts of a document or of a part of it: a line for each, which begins with its place."""
    for name, value in given(block).items():
        here = f"{place} {name}"
        if name == "groups":
            for head, lines in value:
                shown = elided([" | ".join(map(plain, line)) for line in lines], WHOLE_LINES, FIRST_LINES)
                yield from (f"{here} {line}" for line in [plain(head), *shown])
            continue
        for item in value if isinstance(value, list | tuple) else [value]:
            if isinstance(item, BLOCKS):
                yield from facts(item, f"{here} {getattr(item, 'key', '')}".rstrip())
            else:
                yield f"{here} {plain(item)}"


def given(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that have other values than by default, but for its key and functions."""
    known = {one.name: getattr(value, one.name) for one in fields(value) if getattr(value, one.name) != one.default}
    return {name: one for name, one in known.items() if name != "key" and not callable(one)}


def plain(value: Any) -> str:
    """Return a value as a fact: numbers with 9 digits, a sentence as '~', long values as length and digest."""
    if isinstance(value, Message):
        traces = {"from": value.cells, "figure": value.figure} if isinstance(value, Traced) else {}
        return f"({joined({**value.args, **traces})})"
    if is_dataclass(value):
        return joined(given(value))
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list | tuple):
        return shortened("[" + " ".join(map(plain, value)) + "]", len(value))
    if isinstance(value, dict):
        return shortened("{" + joined(value) + "}", len(value))
    return short(str(value))


def joined(values: Mapping[str, Any]) -> str:
    """Return names with their values as facts."""
    return " ".join(f"{name}={plain(value)}" for name, value in values.items())


def short(text: str) -> str:
    """Return a word or a few; of the names of many cells, a digest."""
    if len(text) <= WHOLE_TEXT and len(text.split()) <= MOST_WORDS:
        return text
    return f"{len(text.split())} groups {digest(text)}" if CELLS.fullmatch(text) else "~"


def shortened(text: str, count: int) -> str:
    """Return *text*, or its beginning with a count and a digest."""
    return text if len(text) <= 2 * WHOLE_TEXT else f"{text[:WHOLE_TEXT]}... ({count}, {digest(text)})"
