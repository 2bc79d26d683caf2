"""The command plan: show what a run would measure."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands.chosen import choose_runtimes, planned
from commands.estimate import cell_seconds, no_verdict, run_time, search_time, with_end
from commands.output import output
from commands.project import complete_from_project
from config import flags
from config.options import Flags, Option
from config.plan import Plan
from config.plan_options import JSON, parse_margin
from core.cell import Cell
from core.errors import BadInput
from core.messages import NOTHING, SENTENCES, chained, message
from core.method import placement
from core.result_file import load
from lab.machine import host

if TYPE_CHECKING:
    from reports.document.model import Table

POWER = Option(
    "--power D",
    "Estimate, from the noise of a saved run, how long each measurement must be and how many blocks (repetitions) "
    "are needed to show a difference of D, such as 5%.",
    parse_margin,
)
FROM = Option("--from RUN", "The saved run whose repeated measurements show the noise, for the estimate of --power.")


def main(arguments: Sequence[str]) -> int:
    """Run the command plan. Return its exit status: 0."""
    parser = output.parser("plan", arguments)
    flags.add_run_flags(parser)
    parser.add_group("what to print", JSON)
    parser.add_group("estimate the number of blocks", POWER, FROM)
    flagged = parser.parse(arguments)
    if flagged["power"] is not None or flagged["from"] is not None:
        return _power(flagged)
    given = complete_from_project(flagged, output.note)
    with planned(given) as (asked, spread):
        plan, _, _ = choose_runtimes(asked, given, spread)
        plan = with_end(plan, given)
    if given["json"]:
        print(json.dumps(plan.to_json(), indent=2))
    else:
        _print(plan)
    return 0


def _power(given: Flags) -> int:
    """Print the duration and number of blocks (repetitions) that can show a given difference at a saved run's noise."""
    from reports.facts.comparisons import compare
    from reports.facts.inside import design_of, design_words

    if given["power"] is None or given["from"] is None:
        raise BadInput("--power and --from must be given together: --power 5% --from reports/out/RUN.")
    size, run = flags.value_of(POWER, given), load(Path(given["from"]))
    design = design_of(run, compare(run), size)
    if design is None:
        raise BadInput(
            "The number of blocks (repetitions) cannot be estimated from {run}. Either no comparison has 6 blocks with "
            "measurements of 0.5 s, or the noise would require hundreds of blocks. Measure the plan again with "
            "--blocks 6 --duration 1, or on a quieter machine.",
            run=given["from"],
        )
    output.print_line(design_words(design, size, design.flags))
    return 0


def _print(plan: Plan) -> None:
    from reports.render.console import terminal
    from reports.render.terminal import print_table

    console, cores = terminal(), host.facts()["cores_usable"] or 1
    print_table(cell_table(plan, cores), console, output.language)
    time = search_time(plan) if plan.objectives else run_time(plan, cores)
    console.print(f"\n{output.text(chained([time, no_verdict(plan, cores)], SENTENCES))}", highlight=False)
    if plan.aa and not (plan.method.is_pinned or plan.layout or plan.user_service or plan.view):
        advice = message("Process placement on {cores} cores: {advice}", cores=cores, advice=placement(cores))
        console.print(output.text(advice), highlight=False, soft_wrap=True)


def cell_table(plan: Plan, cores: int) -> "Table":
    """Return a table of the cells (settings to measure) of *plan*: varying parameters, requests and estimated time."""
    from reports.document.shapes import Col, col, table
    from reports.facts.settings import parameter_values, varying

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
