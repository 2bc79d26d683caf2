"""A list of saved runs: date, plan, number of blocks and measurements (cells), and the verdict of
each run.

The command list (commands/list.py) calls saved_runs(), which reads each run, and print_list().
HEADS, SIDES and _texts() have the columns in the same order.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.align import AlignMethod
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from core.languages import Language, for_terminal, on_one_line
from core.messages import BadInput, Message, message
from record.run_file import load
from record.saved_run import FILE_NAME
from reports.render.console import wrapped

NO_VERDICT = message("the run has no saved comparison")
NONE_OK = message("no measurement is ok, so there is nothing to compare")
HEADS = (
    message("started"),
    message("plan"),
    message("blocks"),
    message("cells ok"),
    message("cells not ok"),
    message("run"),
)
# alignments of all columns but the last, which is the folder
SIDES: tuple[AlignMethod, ...] = ("left", "left", "right", "right", "right")
GAP = "  "  # between columns
INDENT = 2  # of the verdict below its run, in columns of the terminal


@dataclass(frozen=True, kw_only=True)
class SavedRun:
    """A saved run, as it is shown in the list of saved runs.

    when:     start of the run, as ISO 8601 text
    blocks:   number of blocks that have a cell
    cells_ok, cells_not_ok: number of cells that are ok, and that failed or are invalid
    verdict:  the headline of its saved comparisons or of its search for the capacity, or that there
        is none
    trouble:  why the run cannot be read, in which case all other fields are unknown; else empty
    """

    folder: str
    when: str = ""
    plan: str = ""
    blocks: int = 0
    cells_ok: int = 0
    cells_not_ok: int = 0
    verdict: Message = NO_VERDICT
    trouble: str = ""

    def to_json(self, language: Language) -> dict[str, Any]:
        """Return the fields of the run as `--json` prints them."""
        return {**asdict(self), "verdict": "" if self.trouble else language.text(self.verdict)}


def saved_runs(folder: Path) -> list[SavedRun]:
    """Return all runs in *folder*, or *folder* itself if it is a run, the newest first, unreadable
    runs last.

    Raises BadInput if *folder* is not a folder.
    """
    if not folder.is_dir():
        raise BadInput(
            "{folder} is not a folder. Name a folder that contains runs, such as reports/out.",
            folder=str(folder),
        )
    runs = [
        path.parent
        for path in (folder / FILE_NAME, *folder.glob(f"*/{FILE_NAME}"))
        if path.is_file()
    ]
    return sorted(map(_read, runs), key=lambda run: (run.when, run.folder), reverse=True)


def _read(folder: Path) -> SavedRun:
    try:
        run = load(folder)
    except BadInput as error:
        return SavedRun(folder=str(folder), trouble=str(error))
    service = run.plan.user_service  # analysis/settings.py would import numpy for a list
    is_named = service and service.command and run.plan.name == service.name
    are_all_faulty = bool(run.cells) and len(run.failed_cells) == len(run.cells)
    return SavedRun(
        folder=str(folder),
        when=run.started_at,
        plan=service.label if service and is_named else run.plan.name,
        blocks=len({cell.block for cell in run.cells}),
        cells_ok=len(run.cells) - len(run.failed_cells),
        cells_not_ok=len(run.failed_cells),
        verdict=run.headline or (NONE_OK if are_all_faulty else NO_VERDICT),
    )


def print_list(runs: Sequence[SavedRun], console: Console, language: Language) -> None:
    """Print a line for each run, with its verdict below. Names of folders are never wrapped."""
    whole = [run for run in runs if not run.trouble]
    lines = [[*map(language.text, HEADS)], *map(_texts, whole)]
    widths = [max(map(cell_len, texts)) for texts in zip(*lines, strict=True)]
    beyond = sum(widths) + len(GAP) * (len(widths) - 1) - console.width
    last = len(HEADS) - (beyond > 0)  # on a narrow terminal, the folder has a line of its own
    widths[1] -= max(0, beyond - widths[-1] - len(GAP))
    below = ["", *(language.text(run.verdict) for run in whole)]
    for number, (line, verdict) in enumerate(zip(lines, below, strict=True)):
        cells = [Text(text, overflow="ellipsis") for text in line]
        for cell, side, width in zip(
            cells, SIDES, widths, strict=False
        ):  # the last column keeps its own width
            cell.align(side, width)
        style = "" if number else "dim"
        for shown in (Text(GAP).join(cells[:last]), *(Text(GAP) + cell for cell in cells[last:])):
            console.print(shown, style=style, soft_wrap=True)
        _print_below(verdict, console, "dim")
    for run in runs:
        _print_below(run.trouble, console, "red")


def _texts(run: SavedRun) -> list[str]:
    when = datetime.fromisoformat(run.when).strftime("%Y-%m-%d %H:%M") if run.when else "-"
    texts = [when, run.plan, str(run.blocks), str(run.cells_ok), str(run.cells_not_ok), run.folder]
    return [*map(on_one_line, texts)]


def _print_below(text: str, console: Console, style: str) -> None:
    if text:
        shown = Text(wrapped(for_terminal(text), console.width - INDENT), style=style)
        console.print(Padding(shown, (0, 0, 0, INDENT), expand=False))
