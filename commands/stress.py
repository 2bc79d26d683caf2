"""The command stress: check a service without the GIL for wrong answers, while its threads switch
very often.

lab/run/stress_rounds.py runs rounds under two arms in turn: one build without its GIL, and the same
build with its GIL on. The results (Stress in core/stress_results.py) are saved as stress.json in a
folder of their own. No times are compared, so a stress test is no run.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from commands.chosen import choose_runtimes, without_absent
from commands.output import output, short
from commands.project import complete_from_project
from config import flags
from config.host_options import expect_no_hosts
from config.options import Option, parse_length
from config.plan_options import CHOICE, CLIENTS, INTERPRETERS, JSON, OUT, QUIET
from config.run_plan import Plan
from config.sidecar_options import PREPARE, WITH
from core.cell import Cell
from core.files import put
from core.messages import BadInput
from core.method import ORCHESTRATOR
from core.runtime import GIL, NATIVE, RuntimeName
from core.stress_results import Stress
from core.user_service import only_native
from lab.run.cell_processes import Bench
from lab.run.control_groups import require_limits
from lab.run.feasible import preflight
from lab.run.running_sidecars import standing
from lab.run.runs import run_folder, run_lock
from reports.exports import STRESS, STRESS_PAGE, STRESS_TEXT, written

# The text of LENGTH names this default, too.
SECONDS = 60.0
# parameter values of a user's service, unless flags or a plan file set them
DEFAULTS = {
    "NUM_CLIENTS": (2,),
    "NUM_CONNECTIONS_PER_CLIENT": (16,),
    "NUM_WORKERS_PER_API_SERVICE": (16,),
}


LENGTH = Option(
    "--seconds T",
    "The total time of the check with and without the GIL (default: 60 s).",
    parse_length("60, 90s or 5min"),
)


def main(arguments: Sequence[str]) -> int:
    """Run the command stress. Return its exit status: 0 if no problem was found, else 1."""
    parser = output.parser("stress")
    parser.add_group("what to check", LENGTH, *CHOICE, CLIENTS, WITH, PREPARE)
    parser.add_group("runtimes", *INTERPRETERS)
    parser.add_parameters()
    flags.add_service_flags(parser)
    parser.add_group("what to print, and where to save the result", OUT, JSON, QUIET)
    given = complete_from_project(parser.parse(arguments), output.note)
    asked, seconds = flags.plan_from(given), flags.value_of(LENGTH, given, SECONDS)
    require_limits(asked.method)
    if asked.user_service and not given["plan"]:
        row = asked.rows[0]  # all rows have the same system and set the same parameters
        free = {*row.system.parameters} - {*row.fixed}
        defaults = {name: value for name, value in DEFAULTS.items() if name in free}
        asked = asked.with_values({**defaults, **flags.parameter_values(given)})
    # before the runtimes are looked for, so that only two are looked for
    plan, runtimes, _ = choose_runtimes(with_two_arms(asked), given)
    plan = without_absent(plan, runtimes)
    preflight(plan)
    folder = (
        Path(given["out"])
        if given["out"]
        else run_folder(replace(plan, name=f"{plan.name}-stress"))
    )
    with run_lock(folder) as sandbox:
        if (folder / STRESS).exists():
            raise BadInput(
                "{folder} already contains a stress report. Name another folder with --out.",
                folder=folder,
            )
        bench = Bench(sandbox=sandbox, runtimes=runtimes, method=plan.method)
        stress, text, status = run_stress(plan, seconds, bench, folder, quiet=given["quiet"])
    if given["json"]:
        print(json.dumps(stress.to_json(), indent=1))
    elif given["quiet"]:
        print(short(folder))
    else:
        print(text)
        output.print_line("Page of the stress report: {path}", path=short(folder / STRESS_PAGE))
    return status


def with_two_arms(plan: Plan) -> Plan:
    """Return *plan* with only two runtimes: one without the GIL and one with the GIL. Raises
    BadInput.

    Python clients call a user's service, because only they send in bursts.
    """
    expect_no_hosts(plan, "stress")
    if sys.platform != "linux":
        raise BadInput(
            "stress needs Linux, but this is {platform}. Run stress on a Linux machine.",
            platform=sys.platform,
        )
    service = plan.user_service
    if service and service.targets:
        raise BadInput(
            "stress must start the service itself, under each runtime. Give --service-command or "
            "--app."
        )
    if service and service.variants:
        raise BadInput(
            "A stress test accepts only one service. Leave out --variant and --vary server."
        )
    if service and (what := only_native(service.protocol, service.requests)):
        raise BadInput(
            "stress calls the service from Python clients, which have no sessions, placeholders or "
            "HTTP/2. Remove {what}.",
            what=what,
        )
    method = replace(plan.method, client_runtime=ORCHESTRATOR) if service else plan.method
    return replace(plan, runtimes=arms(plan.runtimes), aa=False, method=method)


def arms(names: Sequence[str]) -> tuple[RuntimeName, ...]:
    """Return the runtimes of a stress run: the last of *names* without a GIL, and the same binary
    with its GIL on. Raises BadInput.
    """
    parsed = [RuntimeName(name) for name in names if name != NATIVE]
    without = next((name for name in reversed(parsed) if not name.gil_enabled), None)
    if without is None:
        raise BadInput(
            "stress needs a runtime without a GIL, but none is named. Add one, such as --runtime "
            "3.14,3.14t."
        )
    return without, without.having(suffixes=(GIL,))


def run_stress(
    plan: Plan, seconds: float, bench: Bench, folder: Path, *, quiet: bool
) -> tuple[Stress, str, int]:
    """Stress the plan's service for *seconds*. Write *folder*/stress.json after every round, and
    finally the report.

    Return the results, the report as text, and the exit status: 1 if a problem was found, else 0.
    """
    from lab.run.stress_rounds import SWITCH_INTERVAL_S, carry_out
    from reports.render.html import page
    from reports.render.markdown import markdown
    from reports.stress_report import findings, stress_document

    entries = plan.entries()
    stress = Stress(
        name=plan.name,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        switch_interval_s=SWITCH_INTERVAL_S,
        connections=max(_connections(entry.cell) for entry in entries),
        runtimes={name: str(bench.runtimes[name].version) for name in plan.runtimes},
    )

    def keep() -> None:
        put(folder / STRESS, json.dumps(stress.to_json(), indent=1) + "\n", durable=True)
        if not quiet:
            newest = stress.rounds[-1]
            output.note(
                "Stress round under {runtime}: {answered:,} answers, {wrong:,} of them wrong",
                runtime=newest.runtime,
                answered=newest.answered,
                wrong=newest.wrong,
            )

    with standing(plan, bench.runtimes) as beside:
        carry_out(entries, replace(bench, beside=beside), stress, keep)
    document = stress_document(stress)
    text = markdown(document, output.language)
    written({folder / STRESS_TEXT: text, folder / STRESS_PAGE: page(document, output.language)})
    return stress, text.rstrip("\n"), 1 if findings(stress) else 0


# Of all clients together: clients without connections of their own count their threads.
def _connections(cell: Cell) -> int:
    each = cell.params.get("NUM_CONNECTIONS_PER_CLIENT", cell.num_threads_per_client)
    return cell.num_clients * int(each or 1)
