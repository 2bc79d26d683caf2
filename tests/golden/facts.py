"""A document as lines of facts: structure, numbers and arguments, and the data of its figures; no texts, no pictures.

Whoever rewords a sentence changes none of them.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from core.messages import Message
from reports.document.model import Axis, Curve, Datum, Document, Figure, Flame, Panel, Section, Strip, Table, Traced

MOST_WORDS = 3
WHOLE_LINES, FIRST_LINES = 6, 3
WHOLE_TEXT = 48


def digest(*values: object) -> str:
    """Return eight hexadecimal digits that change when *values* do."""
    return hashlib.sha256("\n".join(map(str, values)).encode()).hexdigest()[:8]


def plain(value: Any) -> str:
    """Return a value as a fact: numbers with 9 digits, a sentence as '~', long values as length and digest."""
    if isinstance(value, Message):
        return arguments(value)
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, str):
        return value if len(value.split()) <= MOST_WORDS and len(value) <= WHOLE_TEXT else "~"
    if isinstance(value, list | tuple):
        return shortened("[" + " ".join(map(plain, value)) + "]", len(value))
    if isinstance(value, dict):
        return shortened("{" + " ".join(f"{key}={plain(one)}" for key, one in value.items()) + "}", len(value))
    return str(value)


def shortened(text: str, count: int) -> str:
    """Return *text*, or its beginning with a count and a digest."""
    return text if len(text) <= 2 * WHOLE_TEXT else f"{text[:WHOLE_TEXT]}... ({count}, {digest(text)})"


def arguments(text: Message) -> str:
    """Return the arguments of a message, and the cells that it comes from."""
    parts = [f"{name}={plain(value)}" for name, value in text.args.items()]
    if isinstance(text, Traced):
        parts.append(f"from={named(text.cells)} {text.figure}".strip())
    return f"({', '.join(parts)})"


def named(cells: str) -> str:
    """Return the cells that are named, or how many groups there are with a digest."""
    return cells if len(cells) <= WHOLE_TEXT else f"{len(cells.split())} groups {digest(cells)}"


def facts(document: Document) -> list[str]:
    """Return the facts of a whole document."""
    lines = [f"document {plain(document.title)} cells={document.has_cells}"]
    lines += [f"about {plain(line)}" for line in document.about]
    for section in document.sections:
        lines += _section(section, "")
    return lines


def _section(section: Section, above: str) -> Iterator[str]:
    place = f"{above}/{section.key}"
    yield f"{place} section {plain(section.title)}{' folded' * section.folded}"
    for kind in ("answer", "sentences", "notes", "texts"):
        for text in getattr(section, kind):
            yield f"{place} {kind} {plain(text)}"
    for figure in section.figures:
        yield from _figure(figure, place)
    for table in section.tables:
        yield from _table(table, place)
    for flame in section.flames:
        yield from _flame(flame, place)
    for shown in section.terminal:
        if isinstance(shown, Table):
            yield from _table(shown, f"{place} terminal")
        else:
            yield f"{place} terminal {plain(shown)}"
    for part in section.parts:
        yield from _section(part, place)


def _table(table: Table, place: str) -> Iterator[str]:
    kinds = "".join("s" if one.is_strip or one.strip else "n" if one.is_number else "w" for one in table.columns)
    ranks = " ".join(str(one.rank) for one in table.columns)
    yield f"{place} table {table.key} {table.kind} columns={kinds} ranks={ranks} {plain(table.name)}".rstrip()
    for head, lines in table.groups:
        yield f"{place} group {plain(head)} lines={len(lines)}"
        yield from elided([_line(line) for line in lines], f"{place} line ")


def _line(line: Sequence[Datum]) -> list[str]:
    """Return what the cells of a table's line say; the cells that all of them come from are named once."""
    sources = list(dict.fromkeys(datum.cells for datum in line if datum.cells))
    if len(sources) == 1:
        return [f"cells={named(sources[0])}", *(_datum(replace(datum, cells="")) for datum in line)]
    return [_datum(datum) for datum in line]


def elided(lines: Sequence[Sequence[str]], start: str) -> Iterator[str]:
    """Yield the lines; of many the first, then the others as a digest for each column."""
    shown = lines if len(lines) <= WHOLE_LINES else lines[:FIRST_LINES]
    yield from (start + " | ".join(line) for line in shown)
    rest = lines[len(shown) :]
    for column in range(max(map(len, rest), default=0)):
        values = [line[column] for line in rest if column < len(line)]
        yield f"{start}{len(rest)} more, column {column}: {digest(*values)}"


def _datum(datum: Datum) -> str:
    parts = [plain(datum.words)] if datum.words else []
    if datum.form is not None:
        parts.append("-" if datum.value is None else f"{datum.value:.9g}")
        if datum.value is not None and datum.low is not None and datum.high is not None:
            parts.append(f"{'range' * datum.is_range}[{datum.low:.9g}, {datum.high:.9g}]")
    if datum.strip:
        parts.append(_strip(datum.strip))
    parts += [
        f"{name}={value}"
        for name in ("figure", "state", "look", "raw", "anchor")
        if (value := getattr(datum, name)) not in (None, "")
    ]
    if datum.cells:
        parts.append(f"cells={named(datum.cells)}")
    if datum.hint:
        parts.append(f"hint={plain(datum.hint)}")
    return " ".join(parts)


def _strip(strip: Strip) -> str:
    names = ("low", "high", "is_log", "bars", "marks", "whisker", "dot", "band", "lines", "look")
    return "strip " + " ".join(
        f"{name}={plain(value)}" for name in names if (value := getattr(strip, name)) not in (None, ())
    )


def _figure(figure: Figure, place: str) -> Iterator[str]:
    yield f"{place} figure {figure.key} {plain(figure.title)} caption={plain(figure.caption)}"
    for panel in figure.panels:
        yield from _panel(panel, f"{place} figure {figure.key}")
    if figure.table:
        yield from _table(figure.table, f"{place} figure {figure.key}")


def _panel(panel: Panel, place: str) -> Iterator[str]:
    level = "" if panel.level is None else f" level={panel.level:.9g}"
    axes = f"x={_axis(panel.across)} y={_axis(panel.up)}"
    yield f"{place} panel {plain(panel.title)} {axes}{level}"
    for curve in panel.curves:
        yield from _curve(curve, place)


def _axis(axis: Axis) -> str:
    ticks = f" ticks={plain([value for value, _ in axis.ticks])}" if axis.ticks else ""
    return f"{axis.low:.9g}..{axis.high:.9g}{' log' * axis.is_log}{ticks}"


def _curve(curve: Curve, place: str) -> Iterator[str]:
    marks = [(mark.x, mark.y, mark.low, mark.high) for mark in curve.marks]
    spans = [(span.y, span.start, span.end, span.faint) for span in curve.spans]
    told = {"line": curve.line, "marks": marks, "spans": spans}
    sources = digest(*(mark.cells for mark in curve.marks))
    shapes = " ".join(f"{name}={plain(points)}" for name, points in told.items() if points)
    yield f"{place} curve {plain(curve.name)} look={curve.look} {shapes} cells={sources}"


def _flame(flame: Flame, place: str) -> Iterator[str]:
    yield f"{place} flame {flame.key} {plain(flame.title)} difference={flame.is_difference} tree={plain(flame.tree)}"
