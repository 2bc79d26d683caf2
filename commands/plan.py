"""The command plan: show what a run would measure.

It prepares a plan as the command run does, and may therefore install runtimes and packages, but it
starts no services.
"""

import json
from collections.abc import Iterator, Sequence

from analysis.settings import parameter_names, parameter_values, varying
from commands.chosen import choose_runtimes, planned
from commands.estimate import (
    cell_seconds,
    no_verdict,
    run_time,
    search_time,
    with_end,
)
from commands.output import output
from commands.project import complete_from_project
from config import flags
from config.plan_options import JSON, PROFILE, QUIET
from config.run_plan import Entry, Plan
from core.messages import NOTHING, SENTENCES, Message, chained, listed, message
from lab.machine import host
from record.run_file import plain
from reports.document import Table
from reports.render.console import terminal
from reports.render.terminal import print_table
from reports.tables import Col, col, table

_seconds = "{:.1f} s".format


def main(arguments: Sequence[str]) -> int:
    """Run the command plan. Return its exit status: 0."""
    parser = output.parser("plan")
    flags.add_run_flags(parser)
    parser.add_group("the run", PROFILE, JSON, QUIET)
    given = complete_from_project(parser.parse(arguments), output.note)
    with planned(given) as (asked, spread):
        plan, _, _ = choose_runtimes(asked, given, spread)
        plan = with_end(plan, given)
    if given["json"]:
        print(json.dumps(plain(plan.saved()), indent=2))
        return 0
    console, cores = terminal(), host.facts()["cores_usable"] or 1
    print_table(cell_table(plan, cores), console, output.language)
    profiles = len(flags.value_of(PROFILE, given, ()))
    times = [run_time(plan, cores, profiles), no_verdict(plan, cores)]
    if plan.objectives:
        times = [search_time(plan)]
    for line in service_lines(plan):
        console.print(output.text(line), highlight=False, markup=False)
    console.print(f"\n{output.text(chained(times, SENTENCES))}", highlight=False)
    return 0


def service_lines(plan: Plan) -> Iterator[Message]:
    """Yield how the user's service of *plan* is started and what it is sent; nothing for other
    plans.
    """
    service, cells = plan.user_service, plan.cells()
    if service is None:
        return
    for command in dict.fromkeys(str(one.command) for one in service.commands):
        yield message("Command: {command}", command=command)
    requests = [
        f"{one.weight} x {one.method} {one.path or '/'}" for one in service.requests.requests
    ]
    yield message("Requests: {requests}", requests=listed(requests))
    # a service is measured for a time, which a number of requests does not end
    unused = [*varying(cells), *["NUM_REQUESTS_PER_CLIENT"] * bool(plan.method.duration_s)]
    same = [name for name in parameter_names(cells) if name not in unused]
    yield message("Every measurement: {values}", values=parameter_values(cells[0].params, same))
    if any(one.requirements or one.packages for one in service.commands):
        yield message(
            "The packages were not tried: a run leaves out each runtime for which one of them "
            "cannot be installed."
        )


def cell_table(plan: Plan, cores: int) -> Table:
    """Return a table of the measurements of a block of *plan*: varying parameters, requests and
    estimated time. The times of a search depend on the service.
    """
    names = varying(plan.cells())
    is_targets = bool(plan.user_service and plan.user_service.targets)
    # a text in the second place is the path of an attribute of an Entry
    columns: list[Col[Entry]] = [
        col("measurement", "cell.cell_id", rank=1),
        col("system", _service_name if is_targets else "cell.system"),
        col("runtime", "cell.runtime" if is_targets else "arm"),
        col("parameters", lambda entry: parameter_values(entry.cell.params, names)),
    ]
    if not plan.method.duration_s:  # with a duration, the number of requests is unknown
        columns.append(col("requests", "cell.requests", "{:,}".format))
    if not plan.objectives:
        columns.append(
            col("est. time", lambda entry: cell_seconds(plan, entry.cell, cores), _seconds)
        )
    return table(message("the plan"), columns, [(NOTHING, plan.entries())])


def _service_name(entry: Entry) -> str:
    """Return the name of a service that already runs, which A/A measures a second time."""
    return entry.cell.system if entry.arm == entry.cell.runtime else entry.arm
