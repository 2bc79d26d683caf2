"""Measure a plan, or continue a saved run; report it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import commands
from commands.chosen import with_present_runtimes, without_absent
from commands.output import Output, output_for
from commands.report import show, write
from config import flags
from config import plan_options as options
from config.plan import Plan
from core.errors import BadInput
from core.messages import listed, message, plural
from core.result import Run
from lab.profile.perf import obstacle
from lab.run.experiment import Enough, carry_out
from lab.run.feasible import preflight
from lab.run.runs import Order, check_same_runtimes, new_run, note_time, resumed, run_folder

SUMMARY = message(
    "gilscope: what does the free-threaded build of CPython do to a threaded socket service, and is it worth it?"
)

BESIDE_RESUME = (options.RESUME, options.JSON, options.QUIET, options.LANG, options.INTERPRETER)


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, or 1 where a cell failed or a part of the report could not be made."""
    output = output_for(arguments)
    parser = flags.Parser("", SUMMARY, output.language, _epilog(output))
    flags.add_run_flags(parser)
    parser.add(message("the run"), *options.OF_A_RUN)
    given = parser.parse(arguments)
    if given["resume"] is not None:
        order, run = _resumed(given, output)
    else:
        order, run = _ordered(given, arguments, output)
    _carry_out(order, run, output, quiet=given["quiet"])
    start_ns = perf_counter_ns()
    written = write(order.folder, run, output)
    note_time(order.folder, run, "report", perf_counter_ns() - start_ns)
    show(written, as_json=given["json"], quiet=given["quiet"])
    return 1 if run.failed_cells or not written.whole else 0


def _epilog(output: Output) -> str:
    lines = [f"  {name:<8}  {output.text(commands.module(name).SUMMARY)}" for name in commands.NAMES]
    headings = message("systems:"), message("commands (each has its own --help):")
    systems, others = map(output.text, headings)
    return "\n".join([systems, flags.systems_help(output.language), "", others, *lines])


def _ordered(given: Mapping[str, Any], arguments: Sequence[str], output: Output) -> tuple[Order, Run]:
    plan = flags.plan_from(given)
    seed = flags.value_of(options.SEED, given)
    plan, runtimes, missing = with_present_runtimes(plan, given, output)
    plan = without_absent(plan, runtimes, output)
    _expect_an_end(plan)
    folder = Path(given["out"]) if given["out"] else run_folder(plan)
    order = Order(plan=plan, runtimes=runtimes, folder=folder, profile=_profiles(given, output))
    preflight(plan)
    return order, new_run(order, seed, ["runner.py", *arguments], missing)


def _profiles(given: Mapping[str, Any], output: Output) -> bool:
    """Whether perf is to be used and works here; a note if it does not."""
    wanted = flags.value_of(options.PROFILE, given) is not None
    why_not = obstacle() if wanted else ""
    if why_not:
        output.note(why_not)
    return wanted and not why_not


def _resumed(given: Mapping[str, Any], output: Output) -> tuple[Order, Run]:
    beside = {option.name for option in BESIDE_RESUME}
    names = [name for name, value in given.items() if value not in (None, False, []) and name not in beside]
    if names:
        raise BadInput(
            "--resume continues the saved plan; {flags} cannot change it. Leave it out.",
            flags=listed(f"--{name.replace('_', '-')}" for name in names),
        )
    folder = Path(given["resume"])
    run = resumed(folder)
    plan, runtimes, _ = with_present_runtimes(Plan.from_json(run.plan), given, output)
    order = Order(plan=without_absent(plan, runtimes, output), runtimes=runtimes, folder=folder)
    check_same_runtimes(run, runtimes)
    preflight(plan)
    return order, run


def _expect_an_end(plan: Plan) -> None:
    """Raises BadInput where only the width of an interval is to end the run, and nothing has an interval."""
    until = plan.until
    if until.width and not until.seconds and plan.blocks == options.MAX_BLOCKS and plan.sides < 2:
        raise BadInput(
            "until is {width:g}%, but there is nothing to compare: only one runtime, or one service, takes part. "
            "Name two, or end the run by --blocks N or a time such as --until 10min.",
            width=100 * until.width,
        )


def _enough(plan: Plan) -> Enough:
    """Whether a run has all the blocks it needs, by the plan's `until`."""

    def enough(run: Run, spent_ns: int) -> bool:
        from reports.rows.comparisons import widest

        until = plan.until
        if until.seconds and spent_ns >= until.seconds * 1e9:
            return True
        return bool(until.width) and widest(run) <= until.width

    return enough


def _carry_out(order: Order, run: Run, output: Output, *, quiet: bool) -> None:
    from reports.terminal.progress import display

    try:
        until = order.plan.until
        with display(quiet=quiet, open_ended=bool(until.width or until.seconds)) as progress:
            carry_out(order, run, progress, _enough(order.plan))
    except KeyboardInterrupt:
        output.note(
            plural(
                "Stopped. {count} cell is saved; continue with: python runner.py --resume {folder}",
                "Stopped. {count} cells are saved; continue with: python runner.py --resume {folder}",
                count=len(run.cells),
                folder=str(order.folder),
            )
        )
        raise
