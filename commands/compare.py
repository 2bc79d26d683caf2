"""Compare two saved runs, or pyperf files: is B faster or slower than A?"""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands.saying import note
from config import flags
from lab.run.runs import titles

if TYPE_CHECKING:
    from reports.compare.checks import Check
    from reports.compare.runs import Compared

NO_VERDICT = 1
THRESHOLD_MISSED = 3


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0; with --fail-if-slower 3 where B is slower by that much, 1 where nothing can be said."""
    from reports.compare import runs as comparing
    from reports.compare.checks import checks
    from reports.compare.junit import write_junit
    from reports.compare.pyperf_import import saved_at

    given = _parsed(arguments)
    share = comparing.parse_share(given.fail_if_slower) if given.fail_if_slower is not None else None
    names = str(given.runs[0]), str(given.runs[1])
    both = saved_at(given.runs[0]), saved_at(given.runs[1])
    compared = comparing.compare_runs(*both, names, anyway=given.anyway, share=share)
    checked = checks(compared.comparisons, share)
    named = {**titles(), **both[0].titles, **both[1].titles}
    _show(compared, checked, named, given)
    if given.junit:
        write_junit(compared, checked, given.junit)
    return _exit_status(checked)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = flags.Parser(prog="runner.py compare", description=__doc__)
    parser.add_argument(
        "runs", metavar="RUN", type=Path, nargs=2, help="a run's folder, a result.json or a pyperf file"
    )
    parser.add_argument(
        "--fail-if-slower",
        metavar="SHARE",
        help="exit with 3 if a cell of B is slower by 5%% or more, with 1 if that cannot be said",
    )
    parser.add_argument(
        "--anyway", action="store_true", help="compare what should not be: machines, methods, parameters"
    )
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML, a test case for each cell")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the comparisons as JSON")
    shown.add_argument(
        "--github", action="store_true", help="print annotations for GitHub, and add the table to the job's summary"
    )
    return parser.parse_args(arguments)


def _show(
    compared: "Compared", checked: Sequence["Check"], titles: Mapping[str, str], given: argparse.Namespace
) -> None:
    from reports.compare.github import add_summary, annotations
    from reports.compare.text import print_compared
    from reports.terminal.console import terminal

    if given.json:
        print(json.dumps([one.to_json() for one in compared.comparisons], indent=2))
        return
    print_compared(compared, titles, terminal())
    if given.github:
        print(*annotations(checked), sep="\n", flush=True)
        add_summary(compared, titles, os.environ)


def _exit_status(checked: Sequence["Check"]) -> int:
    """What --fail-if-slower says; a line for each cell that it says nothing of."""
    without = [check for check in checked if check.outcome == "open"]
    for check in without:
        note(f"Not passed: {check.name}: {check.sentence}")
    if any(check.outcome == "slower" for check in checked):
        return THRESHOLD_MISSED
    return NO_VERDICT if without else 0
