"""Show the saved runs, newest first, with what came out of each."""

import json
from collections.abc import Sequence
from pathlib import Path

from commands.report import add_lang_flag, language
from commands.saying import note, short
from config import flags
from lab.run.runs import RUNS


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    from reports.terminal.console import terminal
    from reports.terminal.listing import print_list, saved_runs

    parser = flags.Parser(prog="runner.py list", description=__doc__)
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, nargs="?", help="where runs are saved (default: reports/out)"
    )
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    add_lang_flag(parser, "the verdicts")
    given = parser.parse_args(arguments)
    lang = language(given.lang)
    if given.folder is None:
        RUNS.mkdir(parents=True, exist_ok=True)
    folder = short(given.folder or RUNS)
    runs = saved_runs(folder, lang)
    if given.json:
        print(json.dumps([one.to_json() for one in runs], indent=2))
    elif runs:
        print_list(runs, terminal(), lang)
    else:
        note(f"There is no run in {folder} yet; make one with: make run")
    return 0
