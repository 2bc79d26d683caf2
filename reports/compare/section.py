"""A comparison of two saved runs as a document, for every renderer."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from core.messages import Message, message, verbatim
from reports.compare.runs import CellComparison, Compared
from reports.compare.samples import FS_PER_S, setting_text
from reports.document.model import ABSENT, Column, Document, Group, Line, Section, Table, number, words
from reports.document.values import thousandths
from reports.facts.settings import Settings, varying_names
from reports.statistics.verdict import WORDS

_UNITS = (("s", FS_PER_S), ("ms", 10**12), ("us", 10**9), ("ns", 10**6))
COLUMNS = (
    Column(head=message("runtime")),
    Column(head=verbatim("A"), is_number=True),
    Column(head=verbatim("B"), is_number=True),
    Column(head=message("ratio [95 %]"), is_number=True),
    Column(head=verbatim("p"), is_number=True, rank=1),
    Column(head=message("verdict")),
)
WHY = Column(head=message("why"), rank=2)


def time_text(time_fs: float | None) -> str:
    """Femtoseconds for people, with four digits: '1.600 s', '84.21 us'; '-' for none."""
    if time_fs is None:
        return ABSENT
    unit, size = next((unit for unit in _UNITS if time_fs >= unit[1]), _UNITS[-1])
    return f"{f'{time_fs / size:#.4g}'.rstrip('.')} {unit}"


def document(compared: Compared, titles: Mapping[str, str]) -> Document:
    """The comparison. titles: of the systems, by number or name."""
    about = tuple(
        message("{letter}: {name}", letter=letter, name=name) for letter, name in zip("AB", compared.names, strict=True)
    )
    table, brief = (_table(compared.comparisons, titles, with_why=with_why) for with_why in (True, False))
    notes = (*compared.troubles, *compared.notes)
    section = Section(
        key="comparison", title=message("Comparison"), sentences=notes, tables=(table,),
        terminal=(*about, brief, *_open(compared.comparisons), *notes),
    )  # fmt: skip
    return Document(name=str(section.title), title=section.title, about=about, sections=(section,), has_cells=False)


def _open(comparisons: Sequence[CellComparison]) -> list[Message]:
    """Why cells have no verdict, each reason once."""
    whys = [one.verdict.why for one in comparisons if one.verdict.verdict in ("inconclusive", "invalid")]
    return [message("No verdict: {why}.", why=why) for why in dict.fromkeys(whys)]


def _table(comparisons: Sequence[CellComparison], titles: Mapping[str, str], *, with_why: bool) -> Table:
    names = varying_names(comparison.sample.params for comparison in comparisons)
    settings = Settings([], titles)

    def head(comparison: CellComparison) -> Message:
        name, values = settings.head(comparison.sample.system), setting_text(comparison.sample, names)
        return message("{name} - {values}", name=name, values=values) if values else name

    groups = [
        Group(head=setting, lines=tuple(_line(comparison, with_why) for comparison in alike))
        for setting, alike in groupby(comparisons, head)
    ]
    columns = (*COLUMNS, WHY) if with_why else COLUMNS
    return Table(name=message("Comparison"), columns=columns, groups=tuple(groups))


def _line(comparison: CellComparison, with_why: bool) -> Line:
    seen = comparison.verdict
    return (
        words(comparison.sample.arm),
        *(words(time_text(time_fs)) for time_fs in comparison.medians_fs),
        number(seen.ratio, thousandths, low=seen.low, high=seen.high),
        number(seen.p, lambda p: f"{p:.2g}"),
        words(WORDS[seen.verdict], state=seen.verdict),
        *([words(seen.why)] if with_why else []),
    )
