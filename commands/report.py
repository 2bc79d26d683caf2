"""Make the page, tables and plots of saved runs again, from result.json alone; several also side by side."""

import argparse
import json
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from commands.saying import note, short
from config import flags
from core.errors import BadInput
from core.result import FILE_NAME, Run, keep_comparisons, load, to_json
from lab.run.runs import RUNS, titles

if TYPE_CHECKING:
    from reports.rows.view import View

WIDTH = 78


def write(folder: Path, saved: Run, lang: str = "en") -> "Written":
    """Write all that a run's folder holds beside result.json, and put the comparisons into *saved*.

    A file that cannot be made is named on standard error, and loses no other.
    """
    from reports.findings import findings
    from reports.rows.view import view_of
    from reports.write import PartsLost, write_all

    view = view_of(saved, titles(saved))
    saved.comparisons = findings.comparisons(view)
    try:
        return Written(folder=folder, view=view, paths=write_all(view, folder, lang=lang), lang=lang)
    except PartsLost as lost:
        for reason in lost.reasons:
            note(f"error: {reason}")
        return Written(folder=folder, view=view, paths=lost.paths, lang=lang, whole=False)


@dataclass(frozen=True, kw_only=True)
class Written:
    """A report that is written: what it shows, where, in which language, and whether every file could be made."""

    folder: Path
    view: "View"
    paths: list[Path]
    lang: str = "en"
    whole: bool = True


def language(asked: str) -> str:
    """The language of --lang. Raises BadInput if there are no texts in it."""
    from reports.words.wording import LANGUAGES

    if asked not in LANGUAGES:
        raise BadInput(f"--lang is {asked}; it must be one of {', '.join(LANGUAGES)}.")
    return asked


def add_lang_flag(parser: argparse.ArgumentParser, of: str = "page, record and verdicts") -> None:
    """--lang, which runs, reports and the list of runs have. of: what is in that language."""
    parser.add_argument("--lang", metavar="NAME", default="en", help=f"language of {of}: en (default) or zh")


def show(written: Written, *, as_json: bool, quiet: bool = False) -> None:
    """Print the report on the terminal, or the result as JSON, or where it is."""
    folder = written.folder
    if as_json:
        print(json.dumps(to_json(written.view.run)))
        return
    if quiet:
        print(short(folder))
        return
    _print(written)
    names = [FILE_NAME, *(str(path.relative_to(folder)) for path in written.paths)]
    print()
    _say(f"Saved in {short(folder)}:", written.lang)
    print(fill(", ".join(names), WIDTH, break_on_hyphens=False))
    _say(f"Made again by: python runner.py report {short(folder)}", written.lang)
    _print_verdict(written)


def _print_verdict(written: Written) -> None:
    """The sentences that the page begins with, why something is open, and where the page is."""
    from reports.page.answer import why_open
    from reports.page.texts import TEXTS
    from reports.page.traces import Traces
    from reports.terminal.console import wrapped
    from reports.words.wording import verdict_lines
    from reports.write import PAGE

    view, lang = written.view, written.lang
    why = why_open(view.comparisons, Traces(view), TEXTS[lang], lang)
    print()
    for sentence in [*verdict_lines(view.comparisons, lang), *([why.text] if why else [])]:
        print(wrapped(sentence, WIDTH))
    _say(f"The page: {short(written.folder / PAGE)}", written.lang)


def _say(line: str, lang: str) -> None:
    from reports.words.translation import said

    print(said(line, lang))


def _print(written: Written) -> None:
    from reports.contests import kinds as records
    from reports.findings import findings
    from reports.page.texts import TITLES
    from reports.terminal import tables
    from reports.terminal.console import terminal

    view, lang = written.view, written.lang
    record = records.record_of(view)
    if record is None:
        tables.print_run(view.run, {**view.titles, **TITLES.get(lang, {})}, terminal(), lang)
        findings.print_findings(view, terminal(), lang)
    else:
        records.print_record(record, view, terminal(), lang)


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, or 1 where a part of a report could not be made."""
    given = _parsed(arguments)
    lang = language(given.lang)
    runs = list(dict.fromkeys(given.runs)) or [_newest_run()]
    if given.out and len(runs) < 2:
        raise BadInput(f"--out is {given.out}; it is where runs stand side by side, so name two runs at least.")
    all_written = [_reported(path, saved, lang) for path, saved in [(path, load(path)) for path in runs]]
    _show_all(all_written, given)
    page = _beside(all_written, given) if len(runs) > 1 else _page(all_written[0])
    if given.open:
        _open_page(page)
    return 0 if all(one.whole for one in all_written) else 1


def _reported(path: Path, saved: Run, lang: str) -> Written:
    """The report of the run read from *path*; its file keeps what was concluded."""
    written = write(path if path.is_dir() else path.parent, saved, lang)
    keep_comparisons(path, saved)
    return written


def _show_all(all_written: Sequence[Written], given: argparse.Namespace) -> None:
    """Each on the terminal; as JSON one document, which is a list where there are several."""
    if given.json and len(all_written) > 1:
        print(json.dumps([to_json(one.view.run) for one in all_written]))
        return
    for one in all_written:
        show(one, as_json=given.json, quiet=given.quiet)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = flags.Parser(prog="runner.py report", description=__doc__)
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="*", help="a run's folder (default: the newest)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="the page of several runs (default: side-by-side.html beside the folder of the newest of them)",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--json", action="store_true", help="print the result as JSON on stdout; of several runs, a list"
    )
    shown.add_argument("--quiet", action="store_true", help="print the run's folder, no more")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    add_lang_flag(parser)
    return parser.parse_args(arguments)


def _beside(all_written: Sequence[Written], given: argparse.Namespace) -> Path:
    """Write the page of several runs and say where it is; its path."""
    from reports.page.several.build import NAME
    from reports.write import write_several

    newest = max(all_written, key=lambda one: one.view.run.started_at)
    lang = newest.lang
    path = write_several([one.view for one in all_written], given.out or newest.folder.resolve().parent / NAME, lang)
    if given.quiet:
        print(short(path))
    elif not given.json:
        _say(f"All of them side by side: {short(path)}", lang)
    return path


def _page(written: Written) -> Path:
    from reports.write import PAGE

    return written.folder / PAGE


def _open_page(page: Path) -> None:
    if not webbrowser.open(page.resolve().as_uri()):
        note(f"No browser was found that could be started; open {page.resolve()} yourself.")


def _newest_run() -> Path:
    runs = sorted(RUNS.glob("*/result.json"), key=lambda path: path.stat().st_mtime)
    if not runs:
        raise BadInput(f"There is no run in {short(RUNS)} yet; make one with: make run")
    return runs[-1].parent
