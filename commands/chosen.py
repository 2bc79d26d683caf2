"""Which runtimes take part: those asked for that are here, with a line for each that is not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from commands.saying import note
from config import flags
from config.plan import Plan
from core.errors import BadInput
from core.messages import Message
from core.method import ORCHESTRATOR, SAME
from core.runtime import NATIVE
from lab.python import interpreters
from lab.run import feasible
from lab.run.runtimes import AnyRuntime, usable


def with_present_runtimes(
    plan: Plan, given: Mapping[str, Any]
) -> tuple[Plan, dict[str, AnyRuntime], dict[str, Message]]:
    """The plan with the runtimes that are present, these, and a line for each that is not. Raises BadInput."""
    client = plan.method.client_runtime
    extra = () if client in (SAME, ORCHESTRATOR) else (client,)
    runtimes, missing = found_runtimes(tuple(dict.fromkeys((*plan.runtimes, *extra))), given)
    if extra and client not in runtimes:
        raise BadInput(f"The clients were to run under it: {missing[client]}")
    arms = tuple(name for name in runtimes if name in plan.runtimes or name in flags.required(given))
    chosen = replace(plan, runtimes=arms)
    if not chosen.cells():
        systems = ", ".join(dict.fromkeys(row.system for row in plan.rows))
        raise BadInput(
            f"Under {', '.join(arms)} there is nothing of {systems} to measure; name another runtime, such as 3.14."
        )
    return chosen, runtimes, missing


def without_absent(plan: Plan, runtimes: Mapping[str, AnyRuntime]) -> Plan:
    """The plan without what cannot be measured here, each with a line that says why. Raises BadInput if it is all."""
    possible = feasible.without_absent(plan, runtimes)
    for why in dict.fromkeys(possible.absent.values()):
        pairs = [f"{system} under {runtime}" for (system, runtime), text in possible.absent.items() if text == why]
        note(f"Left out: system {', '.join(pairs)}: {why}")
    if not possible.cells():
        raise BadInput("Nothing is left to measure; the lines above say what each system needs.")
    return possible


def found_runtimes(
    names: tuple[str, ...], given: Mapping[str, Any]
) -> tuple[dict[str, AnyRuntime], dict[str, Message]]:
    """The runtimes that are present, and a line for each that is not. Raises BadInput if a required one is not."""
    required = flags.required(given)
    names = tuple(dict.fromkeys((*names, *required)))
    binaries = [name for name in names if name != NATIVE]
    runtimes = usable(names, interpreters.find(binaries, flags.chosen_interpreters(given)))
    missing = {name: interpreters.missing(name) for name in names if name not in runtimes}
    for name in required:
        if name in missing:
            raise BadInput(missing[name])
    for line in dict.fromkeys(missing.values()):
        note(str(line))
    if not runtimes:
        raise BadInput(f"None of the runtimes {', '.join(names)} was found. Install one with: uv python install 3.14t")
    return runtimes, missing
