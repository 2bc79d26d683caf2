"""The command stress: does a service still answer rightly without the GIL, when threads meet as often as they can?"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commands.chosen import with_present_runtimes, without_absent
from commands.output import Output, output_for, short
from commands.project import with_project
from config import flags
from config.beside import PREPARE, WITH
from config.hosts import expect_here
from config.options import Given, Option
from config.plan import Plan
from config.plan_options import CHOICE, CLIENTS, JSON, OUT, QUIET
from core.errors import BadInput
from core.files import put
from core.messages import message
from core.method import LONGEST_S
from core.runtime import NATIVE, RuntimeName
from core.stress import Stress
from lab.run.beside import standing
from lab.run.cell_run import Bench
from lab.run.feasible import preflight
from lab.run.runs import held, run_folder
from reports.names import STRESS, STRESS_PAGE, STRESS_TEXT

SECONDS = 60.0
DEFAULTS = {"NUM_CLIENTS": (2,), "NUM_CONNECTIONS_PER_CLIENT": (16,), "NUM_WORKERS_PER_API_SERVICE": (16,)}


def _seconds(given: Given) -> float:
    time_s = given.seconds({"s": 1.0, "min": 60.0, "h": 3600.0}, LONGEST_S, "60, 90s or 5min")
    if not time_s:
        raise given.wrong(message("above 0, such as 60 or 5min"))
    return time_s


LENGTH = Option("--seconds T", message("how long, all arms together (default: 60)"), _seconds)


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 if nothing was found, 1 if something was."""
    output = output_for(arguments)
    given = _flags(arguments, output)
    given = with_project(given, output.note if not given["quiet"] else lambda text: None)
    asked, seconds = flags.plan_from(given), flags.value_of(LENGTH, given, SECONDS)
    _expect_started(asked)
    if asked.user_service and not given["plan"]:
        asked = asked.with_values({**_defaults(asked), **flags.parameter_values(given)})
    asked = replace(asked, runtimes=arms(asked.runtimes, forced=True))
    plan, runtimes, _ = with_present_runtimes(asked, given, output)
    plan = prepared(without_absent(plan, runtimes, output))
    preflight(plan)
    folder = Path(given["out"]) if given["out"] else run_folder(replace(plan, name=f"{plan.name}-stress"))
    with held(folder) as sandbox:
        if (folder / STRESS).exists():
            raise BadInput("{folder} holds a stress already; name another folder with --out.", folder=str(folder))
        bench = Bench(sandbox=sandbox, runtimes=runtimes, method=plan.method)
        stress = stressed(plan, seconds, bench, folder, output, quiet=given["quiet"])
        text = written(stress, folder, output)
    if given["json"]:
        print(json.dumps(stress.to_json(), indent=1))
    elif given["quiet"]:
        print(short(folder))
    else:
        print(text)
        output.line(message("The page: {path}", path=str(short(folder / STRESS_PAGE))))
    return exit_status(stress)


def _flags(arguments: Sequence[str], output: Output) -> dict[str, Any]:
    parser = output.parser("stress")
    parser.add(message("what to stress"), LENGTH, *CHOICE, CLIENTS, WITH, PREPARE)
    flags.add_runtime_flags(parser)
    parser.add_parameters()
    flags.add_service_flags(parser)
    parser.add(message("what to print, and where it is saved"), OUT, JSON, QUIET)
    return parser.parse(arguments)


def _defaults(plan: Plan) -> dict[str, tuple[int, ...]]:
    """Return those of DEFAULTS that all rows of *plan* read and none has set by a topology."""
    return {
        name: value
        for name, value in DEFAULTS.items()
        if all(name in row.system.parameters and name not in row.fixed for row in plan.rows)
    }


def prepared(plan: Plan) -> Plan:
    """Return *plan* with two arms, one without the GIL and one with it. Raises BadInput if one of them is missing."""
    _expect_started(plan)
    return replace(plan, runtimes=arms(plan.runtimes), aa=False)


def _expect_started(plan: Plan) -> None:
    """Raise BadInput if the service cannot be started under both runtimes."""
    expect_here(plan, "stress")
    if sys.platform != "linux":
        raise BadInput("stress needs Linux; this is {platform}.", platform=sys.platform)
    if plan.user_service and plan.user_service.targets:
        raise BadInput("stress starts the service itself, under each runtime; give --service-command or --app.")


def arms(names: Sequence[str], *, forced: bool = False) -> tuple[str, ...]:
    """Return a runtime of *names* without its GIL, and one of the same version with it. Raises BadInput.

    forced: use the same binary with its GIL on if *names* has no other runtime with a GIL
    """
    parsed = [RuntimeName.parse(name) for name in names if name != NATIVE]
    without = next((name for name in reversed(parsed) if not name.gil_enabled), None)
    if without is None:
        raise BadInput("No runtime without a GIL takes part; name one, such as --runtime 3.14,3.14t.")
    beside = [name for name in parsed if name.gil_enabled and name.version == without.version]
    if not beside and not forced:
        raise BadInput("No runtime with a GIL takes part beside {name}; name one of its version.", name=str(without))
    same_binary = [name for name in beside if name.gil_forced]
    return str(without), str((same_binary or beside)[0]) if beside else f"{without}+gil"


def stressed(plan: Plan, seconds: float, bench: Bench, folder: Path, output: Output, *, quiet: bool) -> Stress:
    """Stress *plan* for *seconds*. stress.json in *folder* is complete after every round."""
    from lab.run.stress import SWITCH_INTERVAL_S, carry_out

    entries = plan.entries()
    stress = Stress(
        name=plan.name,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        switch_interval_s=SWITCH_INTERVAL_S,
        connections=max(_connections(entry.cell.params) for entry in entries),
        runtimes={name: str(bench.runtimes[name].version) for name in plan.runtimes},
    )

    def keep() -> None:
        put(folder / STRESS, json.dumps(stress.to_json(), indent=1) + "\n", durable=True)
        if not quiet:
            newest = stress.rounds[-1]
            progress = message(
                "{runtime}: {answered:,} answers, {wrong:,} wrong",
                runtime=newest.runtime,
                answered=newest.answered,
                wrong=newest.wrong,
            )
            output.note(progress)

    with standing(plan, bench.runtimes) as beside:
        carry_out(entries, replace(bench, beside=beside), stress, keep)
    return stress


def _connections(params: Mapping[str, Any]) -> int:
    each = params.get("NUM_CONNECTIONS_PER_CLIENT", params.get("NUM_THREADS_PER_CLIENT", 1))
    return int(params.get("NUM_CLIENTS") or params.get("NUM_API_SERVICES") or 1) * int(each or 1)


def written(stress: Stress, folder: Path, output: Output) -> str:
    """Write the report beside stress.json as text and as a page. Return the text."""
    from reports import exports
    from reports.render.html import page
    from reports.render.markdown import markdown
    from reports.terminal.stress import stress_document

    document = stress_document(stress)
    text = markdown(document, output.language)
    exports.written({folder / STRESS_TEXT: text, folder / STRESS_PAGE: page(document, output.language)})
    return text.rstrip("\n")


def exit_status(stress: Stress) -> int:
    """Return 1 if something was found, else 0."""
    from reports.terminal.stress import findings

    return 1 if findings(stress) else 0
