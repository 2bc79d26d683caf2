"""Make the page, tables and plots of saved runs again, from result.json alone."""

import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from commands.saying import note, short
from config import flags
from core.errors import BadInput
from core.result import FILE_NAME, Run, load
from lab import experiment

if TYPE_CHECKING:
    from reports.view import View


def write(folder: Path, saved: Run) -> "Written":
    """Write all that a run's folder holds beside result.json, and put the comparisons into *saved*."""
    from reports import findings
    from reports.view import view_of
    from reports.write import write_all

    view = view_of(saved, experiment.titles())
    saved.comparisons = findings.comparisons(view)
    return Written(folder=folder, view=view, paths=write_all(view, folder))


@dataclass(frozen=True, kw_only=True)
class Written:
    """A report that is written: what it shows, and where."""

    folder: Path
    view: "View"
    paths: list[Path]


def show(written: Written, *, as_json: bool, quiet: bool = False) -> None:
    """Print the report on the terminal, or the result as JSON, or where it is."""
    folder = written.folder
    if as_json:
        print((folder / FILE_NAME).read_text(encoding="utf-8"), end="")
        return
    if quiet:
        print(short(folder))
        return
    _print(written.view)
    names = [FILE_NAME, *(str(path.relative_to(folder)) for path in written.paths)]
    print(f"\nSaved in {short(folder)}:")
    print(fill(", ".join(names), 78, break_on_hyphens=False))
    print(f"Made again by: python runner.py report {short(folder)}")
    _print_verdict(written)


def _print_verdict(written: Written) -> None:
    """The sentences that the page begins with, and where it is."""
    from reports.wording import verdict
    from reports.write import PAGE

    print()
    for sentence in verdict(written.view.comparisons):
        print(fill("".join(f"{clause.text}{clause.end}" for clause in sentence), 78, break_on_hyphens=False))
    print(f"The page: {short(written.folder / PAGE)}")


def _print(view: "View") -> None:
    from reports import findings, records, tables
    from reports.terminal import terminal

    record = records.record_of(view)
    if record is None:
        tables.print_run(view.run, view.titles, terminal())
        findings.print_findings(view, terminal())
    else:
        records.print_record(record, view, terminal())


def main(arguments: Sequence[str]) -> int:
    """Make the page, tables and plots of saved runs again, from result.json alone."""
    parser = flags.Parser(prog="runner.py report", description=main.__doc__)
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="*", help="a run's folder (default: the newest)")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    shown.add_argument("--quiet", action="store_true", help="print the run's folder, no more")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    given = parser.parse_args(arguments)
    for where, saved in [(path, load(path)) for path in given.runs or [_newest_run()]]:
        written = write(where if where.is_dir() else where.parent, saved)
        show(written, as_json=given.json, quiet=given.quiet)
        if given.open:
            _open_page(written.folder)
    return 0


def _open_page(folder: Path) -> None:
    from reports.write import PAGE

    page = (folder / PAGE).resolve()
    if not webbrowser.open(page.as_uri()):
        note(f"No browser was found that could be started; open {page} yourself.")


def _newest_run() -> Path:
    runs = sorted(experiment.RUNS.glob("*/result.json"), key=lambda path: path.stat().st_mtime)
    if not runs:
        raise BadInput(f"There is no run in {short(experiment.RUNS)} yet; make one with: make run")
    return runs[-1].parent
