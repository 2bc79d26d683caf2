"""Print the cells that a run with these flags would measure, and about how long it takes; run nothing."""

import json
from collections.abc import Sequence

from commands.chosen import with_present_runtimes
from config import flags
from config.estimate import cell_seconds, plan_seconds
from lab.machine import host


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    parser = flags.Parser(prog="runner.py plan", description=__doc__)
    flags.add_run_flags(parser)
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")
    given = vars(parser.parse_args(arguments))
    asked, _, _ = with_present_runtimes(flags.plan_from(given), given)
    if given["json"]:
        print(json.dumps(asked.to_json(), indent=2))
        return 0
    from reports.terminal.console import terminal
    from reports.terminal.inventory import print_plan

    cores = host.facts()["cores_usable"] or 1
    cells = [(cell, cell_seconds(cell, cores, asked.method.duration_s)) for cell in asked.cells()]
    print_plan(cells, asked.blocks, plan_seconds(asked, cores), terminal())
    return 0
