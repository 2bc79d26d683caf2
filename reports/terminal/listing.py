"""Saved runs in a line or two each: when, which plan, how many blocks and cells, and what came out."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from core.errors import BadInput
from core.languages import Language
from core.messages import Message, message
from core.result import FILE_NAME, Run, load
from reports.document.model import Column, Group, Table, words
from reports.render.terminal import print_sentence, print_table
from reports.rows.comparisons import Comparison
from reports.sections.verdict import answered, clause

NO_VERDICT = message("no comparison is saved")
COLUMNS = (
    Column(head=message("when")),
    Column(head=message("plan")),
    Column(head=message("blocks"), is_number=True),
    Column(head=message("cells ok"), is_number=True),
    Column(head=message("not ok"), is_number=True),
    Column(head=message("run")),
)


@dataclass(frozen=True, kw_only=True)
class SavedRun:
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
    verdict: Message = NO_VERDICT
    trouble: str = ""

    def to_json(self, language: Language) -> dict[str, Any]:
        """As --json prints it."""
        return {**asdict(self), "verdict": "" if self.trouble else language.text(self.verdict)}


def saved_runs(folder: Path) -> list[SavedRun]:
    """Every run in *folder*, which may be one itself, the newest first; those that cannot be read come last.

    Raises BadInput if *folder* is none.
    """
    if not folder.is_dir():
        raise BadInput("{folder} is not a folder; name one that holds runs, such as reports/out.", folder=str(folder))
    runs = [path.parent for path in (folder / FILE_NAME, *folder.glob(f"*/{FILE_NAME}")) if path.is_file()]
    return sorted(map(_read, runs), key=lambda run: (run.when, run.folder), reverse=True)


def _read(folder: Path) -> SavedRun:
    try:
        return summary(load(folder), folder)
    except BadInput as error:
        return SavedRun(folder=str(folder), trouble=str(error))


def summary(run: Run, folder: Path) -> SavedRun:
    """What the list shows of *run*."""
    return SavedRun(
        folder=str(folder),
        when=run.started_at,
        plan=run.plan["name"],
        blocks=len({cell.block for cell in run.cells}),
        cells_ok=len(run.cells) - len(run.failed_cells),
        cells_not_ok=len(run.failed_cells),
        verdict=_verdict(run),
    )


def _verdict(run: Run) -> Message:
    """The first sentence of the verdict: on the lock, where the run can tell it apart."""
    try:
        compared = [Comparison.from_json(stored) for stored in run.comparisons]
    except TypeError:  # of a version whose comparisons had other keys
        return NO_VERDICT
    sentences = answered(compared)
    return clause(sentences[0][0], compared) if sentences else NO_VERDICT


def print_list(runs: Sequence[SavedRun], console: Console, language: Language) -> None:
    """A line for each run, and its verdict below."""
    whole = [run for run in runs if not run.trouble]
    groups = tuple(Group(head=run.verdict, lines=(_line(run),)) for run in whole)
    print_table(Table(name=message("Saved runs"), columns=COLUMNS, groups=groups), console, language)
    for run in runs:
        if run.trouble:
            print_sentence(message("{trouble}", trouble=run.trouble), console, language, "red")


def _line(run: SavedRun) -> tuple[Any, ...]:
    when = datetime.fromisoformat(run.when).strftime("%Y-%m-%d %H:%M") if run.when else "-"
    return tuple(map(words, (when, run.plan, str(run.blocks), str(run.cells_ok), str(run.cells_not_ok), run.folder)))
