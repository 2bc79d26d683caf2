"""What several runs have in common, next to each other: the same steps, times of the same settings. Pure."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from statistics import median
from typing import TypeVar

from core.result import CellResult
from reports.page import forest
from reports.page.bars import bar, is_idle, length_scale
from reports.page.several.members import Member, alike, letters
from reports.page.states import trouble
from reports.page.svg import Scale
from reports.page.tables import Datum, Group, Line, Table, heads, number
from reports.page.traces import of_rows
from reports.rows.columns import seconds
from reports.rows.comparisons import OVER_ALL, Comparison, is_timed
from reports.rows.summary import Row, completion_ns, requests_per_s, setting_key

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Measure = Callable[[CellResult], float]


def forest_of(all_members: Sequence[Member], words: Mapping[str, str], lang: str) -> Table:
    """A group for each step of each setting that two runs have at least, a line for each of these runs."""
    found = [((*one.setting(each), each.step, each.denominator, each.numerator), one, each)
             for one in all_members for each in one.comparisons]  # fmt: skip
    groups = sorted(_in_several(found), key=lambda some: some[0][1].system != OVER_ALL)
    scale = forest.ratio_scale([each for some in groups for _, each in some])
    return Table(
        name=words["comparisons"],
        heads=forest.titles(words["run"], scale, words),
        groups=tuple(_steps(some, scale, words, lang) for some in groups),
        kind="forest",
    )


def _in_several(found: Sequence[tuple[Key, Member, Value]]) -> list[list[tuple[Member, Value]]]:
    """What has the same key in two runs at least, in the order of its first run."""
    made: dict[Key, list[tuple[Member, Value]]] = {}
    for key, one, value in found:
        made.setdefault(key, []).append((one, value))
    return [some for some in made.values() if len({one.letter for one, _ in some}) > 1]


def _steps(some: Sequence[tuple[Member, Comparison]], scale: Scale, words: Mapping[str, str], lang: str) -> Group:
    where = max((one.settings.name(each.system, each.params) for one, each in some), key=len)
    lines = tuple(_step(one, each, scale, words, lang) for one, each in some)
    return Group(head=f"{where} - {forest.step_text(some[0][1], words)}", lines=lines)


def _step(one: Member, each: Comparison, scale: Scale, words: Mapping[str, str], lang: str) -> Line:
    cells = one.cells(one.traces.of(each))
    name = Datum(text=f"{one.letter} {one.date}", look=one.look, kind="runtime")
    return name, *forest.figures(each, cells, scale, words, lang)


def times_of(all_members: Sequence[Member], words: Mapping[str, str], lang: str) -> Table:
    """A group for each setting that two runs have at least, a line for each runtime of each of these runs."""
    timed = any(is_timed(one.view.run) for one in all_members)
    of: Measure = requests_per_s if timed else lambda cell: completion_ns(cell) / 1e9
    found = [((*setting_key(row.system, row.params), row.runtime), one, row)
             for one in all_members for row in one.view.rows if not is_idle(row)]  # fmt: skip
    settings: dict[tuple[str, str], list[tuple[Member, Row]]] = {}
    for some in _in_several(found):
        settings.setdefault(setting_key(some[0][1].system, some[0][1].params), []).extend(some)
    partners = {
        one.letter: [other for other in some if other is not one] for some in alike(all_members) for one in some
    }
    numbers = [words["requests_s"]] if timed else [words["completion_s"], words["requests_s"]]
    return Table(
        name=words["completion"],
        heads=heads(words["runtime"], Datum(kind="plot"), *numbers, words["several_with"], numbers=numbers),
        groups=tuple(_setting(some, of, partners, words, lang) for some in settings.values()),
        kind="bars",
    )


def _setting(
    some: Sequence[tuple[Member, Row]],
    of: Measure,
    partners: Mapping[str, Sequence[Member]],
    words: Mapping[str, str],
    lang: str,
) -> Group:
    scale = length_scale([row for _, row in some], of)
    where = max((one.settings.name(row.system, row.params) for one, row in some), key=len)
    having = {one.letter for one, _ in some}
    lines = []
    for one, row in some:
        others = [other for other in partners[one.letter] if other.letter in having]
        head = Datum(text=f"{one.letter} {row.runtime}", look=one.look, kind="runtime")
        told = letters(others) or words["several_nothing"]
        figures = _time(one, row, of, scale, told) if row.figures else (_trouble(row, words, lang),)
        lines.append((head, *figures))
    return Group(head=where, lines=tuple(lines))


def _trouble(row: Row, words: Mapping[str, str], lang: str) -> Datum:
    return Datum(text=trouble(row, words, lang), kind="trouble")


def _time(one: Member, row: Row, of: Measure, scale: Scale, others: str) -> Line:
    cells, name = one.cells(of_rows([row])), f"{one.letter} {row.runtime}"
    assert row.figures is not None
    blocks = [of(cell) for cell in row.good]
    drawing = bar(name, median(blocks), blocks, scale, one.look)
    figures = [number(seconds(row.figures.completion_ns), cells, "completion_s")] if of is not requests_per_s else []
    figures.append(number(f"{row.figures.requests_per_s:,.0f}", cells, "requests_per_s"))
    return Datum(drawing=drawing, kind="plot", cells=cells), *figures, Datum(text=others)
