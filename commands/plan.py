"""The command plan: show what a run would measure."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commands.chosen import choose_runtimes, planned
from commands.estimate import cell_seconds, no_verdict, run_time, search_time, with_end
from commands.output import output
from commands.project import complete_from_project
from config import flags
from config.plan_options import JSON
from config.run_plan import Plan
from core.cell import Cell
from core.messages import NOTHING, SENTENCES, chained, message
from lab.machine import host
from record.run_file import plain

if TYPE_CHECKING:
    from reports.document.model import Table


def main(arguments: Sequence[str]) -> int:
    """Run the command plan. Return its exit status: 0."""
    parser = output.parser("plan", arguments)
    flags.add_run_flags(parser)
    parser.add_group("what to print", JSON)
    given = complete_from_project(parser.parse(arguments), output.note)
    with planned(given) as (asked, spread):
        plan, _, _ = choose_runtimes(asked, given, spread)
        plan = with_end(plan, given)
    if given["json"]:
        print(json.dumps(plain(plan.saved()), indent=2))
    else:
        _print(plan)
    return 0


def _print(plan: Plan) -> None:
    from reports.render.console import terminal
    from reports.render.terminal import print_table

    console, cores = terminal(), host.facts()["cores_usable"] or 1
    print_table(cell_table(plan, cores), console, output.language)
    time = search_time(plan) if plan.objectives else run_time(plan, cores)
    console.print(
        f"\n{output.text(chained([time, no_verdict(plan, cores)], SENTENCES))}", highlight=False
    )


def cell_table(plan: Plan, cores: int) -> "Table":
    """Return a table of the cells (settings to measure) of *plan*: varying parameters, requests and
    estimated time.
    """
    from analysis.settings import parameter_values, varying
    from reports.document.shapes import Col, col, table

    cells, names = plan.cells(), varying(plan.cells())
    columns: list[Col[Cell]] = [
        col("measurement", "cell_id", rank=1),
        col("system", "system"),
        col("runtime", "runtime"),
        col("parameters", lambda cell: parameter_values(cell.params, names)),
        col("est. time", lambda cell: cell_seconds(plan, cell, cores), "{:.1f} s".format),
    ]
    if not plan.method.duration_s:  # with a duration, the number of requests is unknown
        columns.insert(4, col("requests", "requests", "{:,}".format))
    return table(message("the plan"), columns, [(NOTHING, cells)])
