"""A comparison of two saved runs on a terminal, in 80 columns, and as Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import fill

from rich.console import Console
from rich.text import Text

from reports.compare.runs import CellComparison, Compared
from reports.compare.samples import FS_PER_S, setting_text, varying
from reports.rows.arrangement import system_head
from reports.rows.columns import ABSENT
from reports.words.markdown import escaped, markdown_table

INDENT = 2
_UNITS = (("s", FS_PER_S), ("ms", 10**12), ("us", 10**9), ("ns", 10**6))
_STYLES = {"faster": "green", "slower": "red", "invalid": "red"}


@dataclass(frozen=True, kw_only=True)
class _Column:
    head: str
    text: Callable[[CellComparison], str]


def time_text(time_fs: float | None) -> str:
    """Femtoseconds for people, with four digits: '1.600 s', '84.21 us'; '-' for none."""
    if time_fs is None:
        return ABSENT
    unit, size = next((one for one in _UNITS if time_fs >= one[1]), _UNITS[-1])
    return f"{f'{time_fs / size:#.4g}'.rstrip('.')} {unit}"


def _ratio(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"


def _interval(one: CellComparison) -> str:
    low, high = one.verdict.low, one.verdict.high
    return ABSENT if low is None else f"{_ratio(low)} to {_ratio(high)}"


def _p(one: CellComparison) -> str:
    return ABSENT if one.verdict.p is None else f"{one.verdict.p:.2g}"


_COLUMNS = (
    _Column(head="A", text=lambda one: time_text(one.medians_fs[0])),
    _Column(head="B", text=lambda one: time_text(one.medians_fs[1])),
    _Column(head="ratio", text=lambda one: _ratio(one.verdict.ratio)),
    _Column(head="interval", text=_interval),
    _Column(head="p", text=_p),
    _Column(head="verdict", text=lambda one: one.verdict.verdict),
)


def print_compared(compared: Compared, titles: Mapping[str, str], console: Console) -> None:
    """Print it. titles: of the systems, by number or name."""
    some = compared.comparisons
    for letter, name in zip("AB", compared.names, strict=True):
        _print(f"{letter}: {name}", console)
    console.print()
    widths = _widths(some)
    console.print(_line("runtime", [column.head for column in _COLUMNS], widths), style="bold")
    names = varying(one.sample for one in some)
    for system, of_system in groupby(some, lambda one: one.sample.system):
        console.print()
        _print(system_head(system, titles), console, "bold")
        for setting, group in groupby(of_system, lambda one: setting_text(one.sample, names)):
            _print_group(setting, list(group), widths, console)
    console.print()
    for text in compared.troubles:
        _print(text, console, "red")
    for text in compared.notes:
        _print(text, console)


def _widths(some: Sequence[CellComparison]) -> list[int]:
    names = max([len("runtime"), *(len(one.sample.arm) for one in some)]) + INDENT
    return [names, *(max([len(column.head), *(len(column.text(one)) for one in some)]) for column in _COLUMNS)]


def _line(name: str, texts: Sequence[str], widths: Sequence[int]) -> Text:
    start = f"{'':{INDENT}}{name}".ljust(widths[0])
    return Text(start + "".join(f" {text:>{width}}" for text, width in zip(texts, widths[1:], strict=True)))


def _print_group(setting: str, group: Sequence[CellComparison], widths: Sequence[int], console: Console) -> None:
    if setting:
        _print(setting, console, "italic", indent=1)
    for one in group:
        texts = [column.text(one) for column in _COLUMNS]
        console.print(_line(one.sample.arm, texts, widths), style=_STYLES.get(one.verdict.verdict, ""))
        if one.verdict.verdict in ("inconclusive", "invalid"):
            _print(one.verdict.why, console, indent=2 * INDENT)


def _print(text: str, console: Console, style: str = "", indent: int = 0) -> None:
    space = " " * indent
    wrapped = fill(text, console.width, initial_indent=space, subsequent_indent=space, break_on_hyphens=False)
    console.print(Text(wrapped, style=style))


def compared_page(compared: Compared, titles: Mapping[str, str]) -> str:
    """The comparison as a page of Markdown. titles: of the systems, by number or name."""
    a, b = (escaped(name) for name in compared.names)
    notes = "\n".join(f"- {escaped(line)}" for line in (*compared.troubles, *compared.notes))
    return f"# Comparison\n\n- A: {a}\n- B: {b}\n\n{_table(compared.comparisons, titles)}\n\n{notes}\n"


def _table(some: Sequence[CellComparison], titles: Mapping[str, str]) -> str:
    names = varying(one.sample for one in some)
    figures = [column.head for column in _COLUMNS]
    lines = [
        [
            system_head(one.sample.system, titles),
            setting_text(one.sample, names),
            one.sample.arm,
            *(column.text(one) for column in _COLUMNS),
            one.verdict.why,
        ]
        for one in some
    ]
    return markdown_table(["system", "setting", "runtime", *figures, "why"], lines, set(figures) - {"verdict"})
