"""The command compare: show whether saved runs are faster or slower than the first of
them, run A.

reports/compare compares the runs and makes the text. A ratio above 1 means that a run is faster
than A. The outcome of a cell is "passed", "slower" or "open" (neither could be shown).
"""

import json
from collections.abc import Sequence
from pathlib import Path

from commands.output import NO_VERDICT, THRESHOLD_MISSED, output, short
from config.flags import value_of
from config.options import Flags, Option, percentage
from config.plan_options import JSON, MOST_SLOWER
from lab.run.runs import titles
from record.run_file import load
from reports.compare import members
from reports.compare.compared_runs import Compared, compare_runs, document, sentence
from reports.exports import written
from reports.render.html import page
from reports.view import View

SLOWER = Option(
    "--fail-if-slower SHARE",
    "Exit with status 3 if any run is slower than run A in a measured setting, or with 1 if this "
    "is unclear. SHARE is the tolerated increase in time, such as 5%.",
    percentage(MOST_SLOWER),
)
ANYWAY = Option("--anyway", "Compare the runs even if their machines or methods differ.")
PAGE = Option("--out FILE", "Also write the comparison as an HTML page.")


def main(arguments: Sequence[str]) -> int:
    """Run the command compare. Return its exit status.

    The status is 0. With --fail-if-slower, it is 3 if a run is slower by more than SHARE, and 1 if
    that is unclear.
    """
    parser = output.parser("compare")
    parser.add_names(
        "run",
        "The folder of a saved run, or its result.json. The other runs are compared with the "
        "first run.",
        "+",
    )
    parser.add_group("how to compare", SLOWER, ANYWAY)
    parser.add_group("the HTML page", PAGE)
    parser.add_group("what to print", JSON)
    flags = parser.parse(arguments)
    views = [View(run, titles(run)) for run in map(load, map(Path, flags["run"]))]
    compared = compare_runs(
        members(views, flags["run"]), anyway=flags["anyway"], share=value_of(SLOWER, flags)
    )
    _show(compared, flags)
    return _exit_status(compared)


def _show(compared: Compared, flags: Flags) -> None:
    made = document(compared)
    if flags["out"]:
        written({Path(flags["out"]): page(made, output.language)})
    if flags["json"]:
        print(json.dumps([one.to_json() for one in compared.cells], indent=2))
        return
    for section in made.sections:
        output.print_section(section)
    if flags["out"]:
        output.print_line("Page: {path}", path=short(Path(flags["out"])))


def _exit_status(compared: Compared) -> int:
    """Return the exit status for --fail-if-slower. Print a note for each cell (measured setting)
    without a verdict.
    """
    unclear = [one for one in compared.cells if one.outcome == "open"]
    for one in unclear:
        output.note(
            "No verdict on run {run} in {name}: {reason}",
            run=one.pair.letter,
            name=one.name,
            reason=sentence(one),
        )
    if any(one.outcome == "slower" for one in compared.cells):
        return THRESHOLD_MISSED
    return NO_VERDICT if unclear else 0
