"""Command-line flags: one for every parameter, made from its declaration, and those that choose and shape a plan."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from config.load import (
    METHOD_KEYS,
    experiments,
    load_experiment,
    load_plan,
    parse_method,
    parse_runtimes,
    parse_until,
)
from config.own_flags import add_own_flags, plan_from_own_flags
from config.plan import MAX_BLOCKS, Plan, Row, parse_values
from core.cell import PARAMETERS, Value
from core.errors import BadInput
from core.runtime import RuntimeName
from core.system import System
from systems import every, find

LONGEST_SEED = 19


class Parser(argparse.ArgumentParser):
    """A parser whose errors are BadInput, like all others."""

    def __init__(self, **more: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **more)

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}. See {self.prog} --help for what is accepted.")


def add_plan_flags(parser: argparse.ArgumentParser) -> None:
    """Flags that say which cells: a plan, and what is different from it."""
    choose = parser.add_argument_group("what to run")
    choose.add_argument("--experiment", metavar="NAME", help=f"a plan that comes along: {', '.join(experiments())}")
    choose.add_argument("--plan", metavar="FILE", type=Path, help="a plan of your own, in YAML")
    choose.add_argument("--system", metavar="N", help="1..4, a name, a FILE.py, several with commas, or all")
    choose.add_argument("--blocks", metavar="N", help="how often every cell runs, in random order each time")
    choose.add_argument("--scale", metavar="X", help="share of the plan's requests, above 0 and at most 1")
    method = parser.add_argument_group("how to measure")
    method.add_argument("--warmup", metavar="W", help="what clients ask before they count: 10%% of requests, or 0.5s")
    method.add_argument("--duration", metavar="S", help="time each cell for S seconds, whatever the requests")
    method.add_argument(
        "--until", metavar="W", help="run blocks until intervals are so narrow (3%%), or a time (10min)"
    )
    method.add_argument("--aa", action="store_true", help="one runtime takes part twice: the noise floor")
    method.add_argument(
        "--client-runtime", metavar="NAME", help="runtime of the clients (default: same as the service)"
    )
    method.add_argument("--pin", metavar="SIDE=CPUS", nargs="+", help="CPUs to run on, such as services=0 clients=1")
    add_runtime_flags(parser)
    parameters = parser.add_argument_group("parameters", "each takes one value, or several with commas: a sweep")
    for one in PARAMETERS.values():
        default = f"as {one.same_as}" if one.same_as else "none" if one.default is None else str(one.default).lower()
        parameters.add_argument(
            one.flag,
            dest=one.name,
            metavar="V",
            help=f"{one.help}: {one.accepted} (default {default})",
        )


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Flags that say which cells, in which order, and where the run is saved."""
    add_plan_flags(parser)
    add_own_flags(parser)
    parser.add_argument("--seed", metavar="N", help="makes the order of the cells repeatable")
    parser.add_argument("--out", metavar="DIR", type=Path, help="folder of the run (default: a new one in reports/out)")


def seed(flags: Mapping[str, Any]) -> int | None:
    """The seed that was asked for. Raises BadInput."""
    text = flags["seed"]
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < LONGEST_SEED):
        raise BadInput(f"--seed is {text}; it must be a whole number of at least 0.")
    return int(text)


def add_runtime_flags(parser: argparse.ArgumentParser) -> None:
    """Flags that say which runtimes."""
    runtimes = parser.add_argument_group("runtimes")
    runtimes.add_argument("--runtime", metavar="NAMES", help="runtimes with commas, such as 3.11,3.14,3.14t+gil,3.14t")
    runtimes.add_argument("--require", metavar="NAMES", help="runtimes that must be there; a missing one is an error")
    runtimes.add_argument(
        "--interpreter",
        metavar="NAME=PATH",
        action="append",
        default=[],
        help="use this interpreter for a runtime, such as 3.11=/usr/bin/python3.11 (may be repeated)",
    )


def plan_from(flags: Mapping[str, Any]) -> Plan:
    """The plan that *flags* (vars() of the parsed arguments) ask for. Raises BadInput."""
    plan = plan_from_own_flags(flags) or _narrowed(
        _chosen(flags), flags.get("system"), anew=flags["plan"] is None and flags["experiment"] is None
    )
    if flags["runtime"] is not None:
        plan = replace(plan, runtimes=parse_runtimes(flags["runtime"]))
    if flags["blocks"] is not None:
        plan = replace(plan, blocks=_blocks(flags["blocks"]))
    if flags["scale"] is not None:
        plan = replace(plan, scale=_scale(flags["scale"]))
    if flags["until"] is not None:
        plan = replace(plan, until=parse_until(flags["until"]), blocks=_blocks(flags["blocks"] or str(MAX_BLOCKS)))
    plan = replace(plan, aa=plan.aa or flags["aa"], method=parse_method(_method(flags), plan.method))
    return plan.with_values(parameter_values(flags))


def parameter_values(flags: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    """Values of the parameters that were given as flags. Raises BadInput."""
    return {name: parse_values(name, flags[name]) for name in PARAMETERS if flags.get(name) is not None}


def required(flags: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the runtimes that must be there."""
    return parse_runtimes(flags["require"]) if flags["require"] is not None else ()


def chosen_interpreters(flags: Mapping[str, Any]) -> dict[str, Path]:
    """{interpreter name: path} from every --interpreter NAME=PATH. Raises BadInput."""
    chosen = {}
    for text in flags["interpreter"]:
        name, separator, path = text.partition("=")
        if not separator or not path:
            raise BadInput(f"--interpreter is {text}; it must be NAME=PATH, such as 3.11=/usr/bin/python3.11.")
        chosen[RuntimeName.parse(name).interpreter] = Path(path)
    return chosen


def _method(flags: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: flags[key] for key in METHOD_KEYS if flags[key] is not None}
    if "pin" in given:
        pairs = [text.partition("=") for text in given["pin"]]
        given["pin"] = {side: cpus for side, _, cpus in pairs}
    return given


def _chosen(flags: Mapping[str, Any]) -> Plan:
    if flags["plan"] and flags["experiment"]:
        raise BadInput(f"--plan is {flags['plan']} and --experiment is {flags['experiment']}; give only one of them.")
    if flags["plan"]:
        return load_plan(flags["plan"])
    return load_experiment("default" if flags["experiment"] is None else flags["experiment"])


def _narrowed(plan: Plan, asked: str | None, anew: bool) -> Plan:
    if asked is None or (asked == "all" and not anew):
        return plan
    keys = [one.key for name in asked.split(",") for one in _systems(name.strip())]
    if anew:
        return replace(plan, rows=tuple(Row(system=key, values={}) for key in dict.fromkeys(keys)))
    rows = tuple(row for row in plan.rows if row.system in keys)
    if not rows:
        there = ", ".join(sorted({row.system for row in plan.rows}))
        raise BadInput(f"--system is {asked}, which plan {plan.name} has no row for; it has rows for system {there}.")
    return replace(plan, rows=rows)


def _systems(name: str) -> list[System]:
    return [one for one in every() if one.group == "systems"] if name == "all" else [find(name)]


def _blocks(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise BadInput(f"--blocks is {text}; it must be a whole number of at least 1.")
    return int(text)


def _scale(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"--scale is {text}; it must be a number above 0 and at most 1.") from None


def systems_help() -> str:
    """One line per system, for --help."""
    return "\n".join(f"  {one.key:>8}  {one.title}" for one in every())
