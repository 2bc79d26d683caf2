#!/usr/bin/env python3
"""gilscope: what does the free-threaded build of CPython do to a threaded socket service, and is it worth it?

The command line and nothing else.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"


def enter_environment() -> None:
    """Go on in .venv, where the libraries are, if this interpreter is not the one in it."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    python = VENV / "bin" / "python"
    if python.exists():
        os.execv(python, [str(python), *sys.argv])
    missing = [name for name in ("yaml", "rich", "numpy", "scipy", "matplotlib") if not find_spec(name)]
    if missing or sys.version_info < (3, 11):
        sys.stderr.write(f"error: there is no {VENV} to run in. Make it with: make setup\n")
        raise SystemExit(2)


if __name__ == "__main__":
    enter_environment()

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from time import perf_counter_ns
from typing import Any, NoReturn

from config import flags
from config.estimate import cell_seconds, plan_seconds
from config.load import DEFAULT_RUNTIMES, parse_runtimes
from config.plan import Plan
from core.errors import BadInput, GilscopeError
from core.method import SAME
from core.result import FILE_NAME, Run, load
from lab import experiment, interpreters, machine, quiet
from lab.doctor import findings
from lab.measure import Bench, start_services
from lab.processes import Crew
from lab.profile import available
from lab.runtimes import REPOSITORY, Runtime, present
from lab.sandbox import Sandbox

THRESHOLD_MISSED = 3
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SETUP_RUNTIMES = ("3.11", "3.14", "3.14t")


class Stopped(KeyboardInterrupt):
    """A signal asked us to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def main(arguments: Sequence[str]) -> int:
    """Run one command; its exit status. All errors are printed here."""
    for number in SIGNALS:
        signal.signal(number, _stop)
    try:
        return _command(arguments)
    except GilscopeError as error:
        _note(f"error: {error}")
        return error.exit_status
    except Stopped as stopped:
        return 128 + stopped.number
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _stop(number: int, frame: object) -> NoReturn:
    for one in SIGNALS:
        signal.signal(one, lambda *_: None)  # cleaning up is short, and is not to be cut off
    raise Stopped(number)


def _note(text: str) -> None:
    print(text, file=sys.stderr)


def _command(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS[arguments[0]](arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        raise BadInput(
            f"{arguments[0]!r} is not a command; accepted are {', '.join(COMMANDS)}, or only flags for a run."
        )
    return run(arguments)


def run(arguments: Sequence[str]) -> int:
    """Measure a plan, or go on with a saved run; report it."""
    parser = flags.Parser(prog="runner.py", description=__doc__, epilog=_epilog())
    flags.add_run_flags(parser)
    parser.add_argument("--resume", metavar="DIR", type=Path, help="go on with the run saved there")
    parser.add_argument("--profile", choices=["perf"], help="profile one more cell of each kind, which is not counted")
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    given = vars(parser.parse_args(arguments))
    order, saved = _resumed(given) if given["resume"] else _ordered(given, arguments)
    for line in experiment.prepare(order.runtimes, experiment.requirements_of(order.plan)):
        _note(line)
    _carry_out(order, saved)
    start_ns = perf_counter_ns()
    paths = _write(order.folder, saved)
    experiment.note_time(order.folder, saved, "report", perf_counter_ns() - start_ns)
    _show(order.folder, saved, paths, given["json"])
    return 1 if saved.failed_cells else 0


def _epilog() -> str:
    commands = "\n".join(f"  {name:>8}  {(one.__doc__ or '').splitlines()[0]}" for name, one in COMMANDS.items())
    return f"systems:\n{flags.systems_help()}\n\ncommands (each has its own --help):\n{commands}"


def _ordered(given: Mapping[str, Any], arguments: Sequence[str]) -> tuple[experiment.Order, Run]:
    plan = flags.plan_from(given)
    seed = flags.seed(given)
    plan, runtimes, missing = _with_present_runtimes(plan, given)
    folder = given["out"] or experiment.run_folder(plan)
    order = experiment.Order(plan=plan, runtimes=runtimes, folder=folder, profile=_profiles(given["profile"]))
    experiment.preflight(plan)
    return order, experiment.new_run(order, seed, ["runner.py", *arguments], missing)


def _profiles(asked: str | None) -> bool:
    """Whether perf was asked for and runs here; a line if it does not."""
    why_not = available() if asked else ""
    if why_not:
        _note(why_not)
    return bool(asked) and not why_not


def _resumed(given: Mapping[str, Any]) -> tuple[experiment.Order, Run]:
    allowed = ("resume", "json", "interpreter")
    for name, value in given.items():
        if value not in (None, False, []) and name not in allowed:
            raise BadInput(
                f"--resume goes on with the saved plan; --{name.lower().replace('_', '-')} cannot change it."
            )
    saved = experiment.resumed(given["resume"])
    plan, runtimes, _ = _with_present_runtimes(Plan.from_json(saved.plan), {**given, "require": None})
    order = experiment.Order(plan=plan, runtimes=runtimes, folder=given["resume"])
    experiment.check_same_runtimes(saved, runtimes)
    experiment.preflight(plan)
    return order, saved


def _with_present_runtimes(plan: Plan, given: Mapping[str, Any]) -> tuple[Plan, dict[str, Runtime], dict[str, str]]:
    """The plan with the runtimes that are present, these, and a line for each that is not. Raises BadInput."""
    client = plan.method.client_runtime
    extra = () if client == SAME else (client,)
    runtimes, missing = _runtimes(tuple(dict.fromkeys((*plan.runtimes, *extra))), given)
    if extra and client not in runtimes:
        raise BadInput(f"The clients were to run under it: {missing[client]}")
    arms = tuple(name for name in runtimes if name in plan.runtimes or name in flags.required(given))
    return replace(plan, runtimes=arms), runtimes, missing


def _runtimes(names: tuple[str, ...], given: Mapping[str, Any]) -> tuple[dict[str, Runtime], dict[str, str]]:
    """The runtimes that are present, and a line for each that is not. Raises BadInput if a required one is not."""
    required = flags.required(given)
    names = tuple(dict.fromkeys((*names, *required)))
    runtimes = present(names, interpreters.find(names, flags.chosen_interpreters(given)))
    missing = {name: interpreters.missing_line(name) for name in names if name not in runtimes}
    for name in required:
        if name in missing:
            raise BadInput(missing[name])
    for line in dict.fromkeys(missing.values()):
        _note(line)
    if not runtimes:
        raise BadInput(f"None of the runtimes {', '.join(names)} was found. Install one with: uv python install 3.14t")
    return runtimes, missing


def _enough(plan: Plan) -> experiment.Enough:
    """Whether a run has all the blocks it needs, by the plan's `until`."""

    def enough(saved: Run, spent_ns: int) -> bool:
        from reports.findings import widest

        until = plan.until
        if until.seconds and spent_ns >= until.seconds * 1e9:
            return True
        return bool(until.width) and widest(saved) <= until.width

    return enough


def _carry_out(order: experiment.Order, saved: Run) -> None:
    from reports.progress import display

    try:
        with display() as progress:
            experiment.carry_out(order, saved, progress, _enough(order.plan))
    except KeyboardInterrupt:
        _note(f"Stopped. {len(saved.cells)} cells are saved; go on with: python runner.py --resume {order.folder}")
        raise


def _write(folder: Path, saved: Run) -> list[Path]:
    from reports import findings, write

    saved.comparisons = findings.comparisons(saved)
    return write.write_all(saved, folder, experiment.titles())


def _show(folder: Path, saved: Run, paths: Sequence[Path], as_json: bool) -> None:
    from reports import findings, tables
    from reports.terminal import terminal

    if as_json:
        print((folder / FILE_NAME).read_text(encoding="utf-8"), end="")
        return
    tables.print_run(saved, experiment.titles(), terminal())
    findings.print_findings(saved, terminal())
    print(f"\nSaved in {_short(folder)}:")
    print(fill(", ".join([FILE_NAME, *(str(path.relative_to(folder)) for path in paths)]), 78, break_on_hyphens=False))
    print(f"Made again by: python runner.py report {_short(folder)}")


def _short(path: Path) -> Path:
    return path.resolve().relative_to(Path.cwd()) if path.resolve().is_relative_to(Path.cwd()) else path


def report(arguments: Sequence[str]) -> int:
    """Make the tables and plots of a saved run again, from its result.json alone."""
    parser = flags.Parser(prog="runner.py report", description=report.__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, nargs="?", help="a run's folder (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    given = parser.parse_args(arguments)
    folder = given.run or _newest_run()
    saved = load(folder)
    folder = folder if folder.is_dir() else folder.parent
    _show(folder, saved, _write(folder, saved), given.json)
    return 0


def _newest_run() -> Path:
    runs = sorted(experiment.RUNS.glob("*/result.json"), key=lambda path: path.stat().st_mtime)
    if not runs:
        raise BadInput(f"There is no run in {_short(experiment.RUNS)} yet; make one with: make run")
    return runs[-1].parent


def runtimes(arguments: Sequence[str]) -> int:
    """Show the interpreters that were found, and what they are."""
    parser = flags.Parser(prog="runner.py runtimes", description=runtimes.__doc__)
    flags.add_runtime_flags(parser)
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    given = vars(parser.parse_args(arguments))
    names = parse_runtimes(given["runtime"]) if given["runtime"] else DEFAULT_RUNTIMES
    found, _ = _runtimes(names, given)
    if given["json"]:
        print(json.dumps({name: one.to_json() for name, one in found.items()}, indent=2))
        return 0
    from reports.inventory import print_runtimes
    from reports.terminal import terminal

    others = {
        f"{one.name} at {one.executable}": one.facts
        for one in [
            *interpreters.all_found(),
            *(other for one in found.values() for other in one.interpreter.alternatives),
        ]
        if one.executable not in [runtime.interpreter.executable for runtime in found.values()]
    }
    print_runtimes({name: one.to_json() for name, one in found.items()}, others, terminal())
    return 0


def plan(arguments: Sequence[str]) -> int:
    """Print the cells that a run with these flags would measure, and about how long it takes; run nothing."""
    parser = flags.Parser(prog="runner.py plan", description=plan.__doc__)
    flags.add_run_flags(parser)
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")
    given = vars(parser.parse_args(arguments))
    asked, _, _ = _with_present_runtimes(flags.plan_from(given), given)
    if given["json"]:
        print(json.dumps(asked.to_json(), indent=2))
        return 0
    from reports.inventory import print_plan
    from reports.terminal import terminal

    cores = machine.facts()["cores_usable"] or 1
    cells = [(cell, cell_seconds(cell, cores, asked.method.duration_s)) for cell in asked.cells()]
    print_plan(cells, asked.blocks, plan_seconds(asked, cores), terminal())
    return 0


def serve(arguments: Sequence[str]) -> int:
    """Start the services of one cell and print their addresses, until Ctrl-C or end of input."""
    parser = flags.Parser(prog="runner.py serve", description=serve.__doc__)
    flags.add_plan_flags(parser)
    given = vars(parser.parse_args(arguments))
    asked = flags.plan_from(given)
    found, _ = _runtimes(asked.runtimes[:1] if given["runtime"] is None else asked.runtimes, given)
    cells = replace(asked, runtimes=tuple(found)).cells()
    if len(cells) != 1:
        raise BadInput(
            f"serve starts the services of one cell, and these flags make {len(cells)}; "
            "give one value to each, such as: --system 4 --runtime 3.14t --num-multi-socket 1"
        )
    with Sandbox() as sandbox, Crew(sandbox, str(REPOSITORY)) as crew:
        for addresses in start_services(cells[0], crew, Bench(sandbox=sandbox, runtimes=found)):
            print(*addresses, sep="\n", flush=True)
        try:
            crew.watch_until_end_of(sys.stdin or open(os.devnull))  # noqa: SIM115
        except KeyboardInterrupt:
            pass
    return 0


def setup(arguments: Sequence[str]) -> int:
    """Find or install the runtimes, and make the environments that systems need. `make setup` calls it."""
    flags.Parser(prog="runner.py setup", description=setup.__doc__).parse_args(arguments)
    absent = [name for name in SETUP_RUNTIMES if name not in interpreters.find(SETUP_RUNTIMES)]
    for line in interpreters.install(absent):
        _note(line)
    found = present(SETUP_RUNTIMES, interpreters.find(SETUP_RUNTIMES))
    for name, runtime in found.items():
        _note(f"Runtime {name}: {runtime.interpreter.facts['version']} at {runtime.interpreter.executable}")
    for line in experiment.prepare(found, experiment.all_requirements()):
        _note(line)
    return 0


def compare(arguments: Sequence[str]) -> int:
    """Compare two saved runs, or pyperf files: is B faster or slower than A?"""
    from reports import compare as comparing
    from reports.compare_text import print_compared
    from reports.pyperf_import import saved_at
    from reports.terminal import terminal

    parser = flags.Parser(prog="runner.py compare", description=compare.__doc__)
    parser.add_argument(
        "runs", metavar="RUN", type=Path, nargs=2, help="a run's folder, a result.json or a pyperf file"
    )
    parser.add_argument("--fail-if-slower", metavar="SHARE", help="exit with 3 if a cell of B is slower by 5%% or more")
    parser.add_argument(
        "--anyway", action="store_true", help="compare what should not be: machines, methods, parameters"
    )
    parser.add_argument("--json", action="store_true", help="print the comparisons as JSON")
    given = parser.parse_args(arguments)
    share = comparing.parse_share(given.fail_if_slower) if given.fail_if_slower is not None else None
    names = str(given.runs[0]), str(given.runs[1])
    both = saved_at(given.runs[0]), saved_at(given.runs[1])
    compared = comparing.compare_runs(*both, names, anyway=given.anyway, share=share)
    if given.json:
        print(json.dumps([one.to_json() for one in compared.comparisons], indent=2))
    else:
        print_compared(compared, experiment.titles(), terminal())
    slower = comparing.slower_cells(compared.comparisons, share) if share is not None else []
    return THRESHOLD_MISSED if slower else 0


def export(arguments: Sequence[str]) -> int:
    """Write a saved run as pyperf JSON, one file per runtime, for `pyperf compare_to`."""
    from reports import pyperf_files

    parser = flags.Parser(prog="runner.py export", description=export.__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help="a run's folder")
    parser.add_argument("to", metavar="DIR", type=Path, help="a folder, or NAME.json")
    given = parser.parse_args(arguments)
    paths, left_out = pyperf_files.export(load(given.run), given.to)
    for line in left_out:
        _note(line)
    print(*paths, sep="\n")
    return 0


def doctor(arguments: Sequence[str]) -> int:
    """Show what makes this machine unquiet for benchmarks, and what to do about it."""
    from reports.doctor import print_findings
    from reports.terminal import terminal

    parser = flags.Parser(prog="runner.py doctor", description=doctor.__doc__)
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    given = parser.parse_args(arguments)
    facts = quiet.facts()
    if given.json:
        print(json.dumps(facts, indent=2))
    else:
        print_findings(findings(facts), terminal())
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "runtimes": runtimes,
    "plan": plan,
    "serve": serve,
    "report": report,
    "compare": compare,
    "export": export,
    "doctor": doctor,
    "setup": setup,
}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
