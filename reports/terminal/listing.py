"""Saved runs in a line or two each: when, which plan, how many blocks and cells, and what came out."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from textwrap import indent as indented
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from core.errors import BadInput
from core.result import FILE_NAME, Run, load
from reports.rows.comparisons import Comparison
from reports.terminal.console import wrapped
from reports.words.translation import JOINTS, said
from reports.words.wording import verdict

INDENT = 2
NO_VERDICT = "no comparison is saved"
HEADS = ("when", "plan", "blocks", "cells ok", "not ok", "run")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One saved run. trouble: why it cannot be read, and then nothing else is known; or empty.

    blocks: that have a cell. cells_ok, cells_not_ok: how many cells are ok; failed or invalid
    verdict: the first thing that its saved comparisons say, or that there are none
    """

    folder: str
    when: str = ""
    plan: str = ""
    blocks: int = 0
    cells_ok: int = 0
    cells_not_ok: int = 0
    verdict: str = ""
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return asdict(self)


def saved_runs(folder: Path, lang: str = "en") -> list[Listed]:
    """Every run in *folder*, which may be one itself, the newest first; those that cannot be read come last.

    lang: of the verdicts. Raises BadInput if *folder* is none.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; name one that holds runs, such as reports/out.")
    found = [path.parent for path in (folder / FILE_NAME, *folder.glob(f"*/{FILE_NAME}")) if path.is_file()]
    return sorted((_listed(one, lang) for one in found), key=lambda one: (one.when, one.folder), reverse=True)


def _listed(folder: Path, lang: str) -> Listed:
    try:
        return summary(load(folder), folder, lang)
    except BadInput as error:
        return Listed(folder=str(folder), trouble=str(error))


def summary(run: Run, folder: Path, lang: str = "en") -> Listed:
    """What the list tells of *run*."""
    return Listed(
        folder=str(folder),
        when=run.started_at,
        plan=run.plan["name"],
        blocks=len({cell.block for cell in run.cells}),
        cells_ok=len(run.cells) - len(run.failed_cells),
        cells_not_ok=len(run.failed_cells),
        verdict=_verdict(run, lang),
    )


def _verdict(run: Run, lang: str) -> str:
    """The first clause of the verdict: on the lock, where the run can tell it apart."""
    known = {one.name for one in fields(Comparison)}
    try:
        compared = [Comparison(**{k: v for k, v in one.items() if k in known}) for one in run.comparisons]
    except TypeError:  # of a version whose comparisons had other keys
        return said(NO_VERDICT, lang)
    sentences = verdict(compared, lang)
    return f"{sentences[0][0].text}{JOINTS[lang][1]}" if sentences else said(NO_VERDICT, lang)


def print_list(runs: Sequence[Listed], console: Console, lang: str = "en") -> None:
    """A line for each run, and its verdict below. lang: of the heads."""
    whole = [one for one in runs if not one.trouble]
    heads = tuple(said(head, lang) for head in HEADS)
    lines = [heads, *(_texts(one) for one in whole)]
    widths = [max(cell_len(line[place]) for line in lines) for place in range(len(HEADS) - 1)]
    _print_line(heads, widths, console, "bold")
    for one, texts in zip(whole, lines[1:], strict=True):
        _print_line(texts, widths, console)
        _print_below(one.verdict, console, "dim")
    for one in runs:
        if one.trouble:
            _print_below(one.trouble, console, "red")


def _texts(one: Listed) -> tuple[str, ...]:
    when = datetime.fromisoformat(one.when).strftime("%Y-%m-%d %H:%M") if one.when else "-"
    return when, one.plan, str(one.blocks), str(one.cells_ok), str(one.cells_not_ok), one.folder


def _print_line(texts: Sequence[str], widths: Iterable[int], console: Console, style: str = "") -> None:
    *figures, name = texts
    aligned = []
    for place, (text, width) in enumerate(zip(figures, widths, strict=True)):
        space = " " * (width - cell_len(text))
        aligned.append(f"{text}{space}" if place < 2 else f"{space}{text}")
    console.print(Text("  ".join([*aligned, name]), style=style), soft_wrap=True)


def _print_below(text: str, console: Console, style: str) -> None:
    space = " " * INDENT
    console.print(Text(indented(wrapped(text, console.width - INDENT), space), style=style))
