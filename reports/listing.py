"""Saved runs in a line or two each: when, which plan, how many blocks and cells, and what came out."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from textwrap import fill
from typing import Any

from rich.console import Console
from rich.text import Text

from core.errors import BadInput
from core.result import FILE_NAME, Run, load
from reports.comparisons import Comparison
from reports.wording import verdict

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


def saved_runs(folder: Path) -> list[Listed]:
    """Every run in *folder*, which may be one itself, the newest first; those that cannot be read come last.

    Raises BadInput if *folder* is none.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; name one that holds runs, such as reports/out.")
    found = [path.parent for path in (folder / FILE_NAME, *folder.glob(f"*/{FILE_NAME}")) if path.is_file()]
    return sorted(map(_listed, found), key=lambda one: (one.when, one.folder), reverse=True)


def _listed(folder: Path) -> Listed:
    try:
        return summary(load(folder), folder)
    except BadInput as error:
        return Listed(folder=str(folder), trouble=str(error))


def summary(run: Run, folder: Path) -> Listed:
    """What the list tells of *run*."""
    return Listed(
        folder=str(folder),
        when=run.started_at,
        plan=run.plan["name"],
        blocks=len({cell.block for cell in run.cells}),
        cells_ok=len(run.cells) - len(run.failed_cells),
        cells_not_ok=len(run.failed_cells),
        verdict=_verdict(run),
    )


def _verdict(run: Run) -> str:
    """The first clause of the verdict: on the lock, where the run can tell it apart."""
    known = {one.name for one in fields(Comparison)}
    try:
        compared = [Comparison(**{k: v for k, v in one.items() if k in known}) for one in run.comparisons]
    except TypeError:  # of a version whose comparisons had other keys
        return NO_VERDICT
    sentences = verdict(compared)
    return f"{sentences[0][0].text}." if sentences else NO_VERDICT


def print_list(runs: Sequence[Listed], console: Console) -> None:
    """A line for each run, and its verdict below."""
    whole = [one for one in runs if not one.trouble]
    lines = [HEADS, *(_texts(one) for one in whole)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEADS) - 1)]
    _print_line(HEADS, widths, console, "bold")
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
    aligned = [
        text.ljust(width) if place < 2 else text.rjust(width)
        for place, (text, width) in enumerate(zip(figures, widths, strict=True))
    ]
    console.print(Text("  ".join([*aligned, name]), style=style), soft_wrap=True)


def _print_below(text: str, console: Console, style: str) -> None:
    space = " " * INDENT
    wrapped = fill(text, console.width, initial_indent=space, subsequent_indent=space, break_on_hyphens=False)
    console.print(Text(wrapped, style=style))
