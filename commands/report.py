"""The command report: write page, tables and plots of a saved run from its result.json.

running.py also calls write() and show(), at the end of a run.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commands.output import no_run_in, output, short
from config.options import Flags
from config.plan_options import JSON, QUIET
from core.messages import NOTHING, SENTENCES, BadInput, chained
from core.program import RUNS
from lab.folders import PrivateFolder
from lab.run.runs import expect_no_foreign_files, leftovers, titles
from record.run_file import load
from record.saved_run import Run
from reports.exports import IN_FOLDER, PAGE

if TYPE_CHECKING:
    from reports.view import View

LABEL_WIDTH = 12  # width of a label in columns of the terminal


@dataclass(frozen=True, kw_only=True)
class Written:
    """A report that was written, with the run's facts, and whether every file could be made."""

    folder: Path
    view: "View"
    is_complete: bool = True


def write(folder: Path, run: Run) -> Written:
    """Write all files of a run's report, and store the comparisons of its runtimes or services in
    *run*.

    result.json is not written: the caller may save *run*.
    A file that cannot be made is named on standard error. The other files are written.
    """
    from reports.parts.swept_values import run_headline
    from reports.sections import capacity
    from reports.view import View
    from reports.write import write_all

    view = View(run, titles(run))
    run.comparisons = [*view.comparisons, *view.of_values, *view.between_bests]
    run.headline = chained(capacity.headlines(view), SENTENCES) or run_headline(view)
    lost = write_all(view, folder, output.language)
    for reason in lost:
        output.error(reason)
    return Written(folder=folder, view=view, is_complete=not lost)


def show(written: Written, flags: Flags) -> None:
    """Print the report for the terminal, or as JSON (--json), or only its folder (--quiet)."""
    if flags["json"]:
        from reports.exports.texts import as_json

        print(json.dumps(as_json(written.view)))
    elif flags["quiet"]:
        print(short(written.folder))
    else:
        _print(written)


def _print(written: Written) -> None:
    """Print the report's sections to the terminal. The verdict and the path of the
    page come last.
    """
    from rich.cells import cell_len

    from reports.document import Section
    from reports.parts.answer import with_page
    from reports.render.console import terminal
    from reports.render.terminal import print_section
    from reports.sections import sections

    console = terminal()
    shown = {section.key: section for section in sections(written.view)}
    last = shown.pop("verdict", Section(key="verdict", title=NOTHING))
    for section in filter(lambda section: section.terminal, shown.values()):
        print_section(section, console, output.language)
        console.print()
    page = str(short(written.folder / PAGE))
    fits = cell_len(page) <= console.width - LABEL_WIDTH
    print_section(with_page(last, page) if fits else last, console, output.language)
    if not fits:  # a path that is wrapped over two lines cannot be copied
        output.print_line("Page: {path}", path=page)


def main(arguments: Sequence[str]) -> int:
    """Run the command report. Return its exit status: 0, or 1 if a part of the report could not be
    made.
    """
    parser = output.parser("report")
    parser.add_names("run", "The folder of a run (default: the newest run).", "?")
    parser.add_group("what to print", JSON, QUIET)
    flags = parser.parse(arguments)
    path = Path(flags["run"]) if flags["run"] is not None else _newest_run()
    run, folder = load(path), path if path.is_dir() else path.parent
    for damage in run.damaged:
        output.note(damage)
    expect_no_foreign_files(folder, IN_FOLDER)
    # its reaper removes partly written files if this process is killed
    with PrivateFolder(leftovers(folder)):
        written = write(folder, run)
    show(written, flags)
    return 0 if written.is_complete else 1


def _newest_run() -> Path:
    files = sorted(RUNS.glob("*/result.json"), key=lambda path: path.stat().st_mtime)
    if not files:
        raise BadInput(no_run_in(str(short(RUNS))))
    return files[-1].parent
