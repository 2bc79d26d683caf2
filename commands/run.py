"""Measure a plan, or go on with a saved run; report it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from commands import summaries
from commands.chosen import with_present_runtimes, without_absent
from commands.report import add_lang_flag, language, show, write
from commands.saying import note
from config import flags
from config.plan import MAX_BLOCKS, Plan
from core.errors import BadInput
from core.messages import NOTHING
from core.result import Run
from lab.profile.perf import obstacle
from lab.run.experiment import Enough, carry_out
from lab.run.feasible import preflight
from lab.run.runs import Order, check_same_runtimes, new_run, note_time, resumed, run_folder

TITLE = "gilscope: what does the free-threaded build of CPython do to a threaded socket service, and is it worth it?"


def main(arguments: Sequence[str]) -> int:
    """Measure a plan, or go on with a saved run; report it."""
    parser = flags.Parser(prog="runner.py", description=TITLE, epilog=_epilog())
    flags.add_run_flags(parser)
    parser.add_argument("--resume", metavar="DIR", type=Path, help="go on with the run saved there")
    parser.add_argument("--profile", choices=["perf"], help="profile one more cell of each kind, which is not counted")
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    parser.add_argument("--quiet", action="store_true", help="print what went wrong and the run's folder, no more")
    add_lang_flag(parser)
    given = vars(parser.parse_args(arguments))
    lang = language(given["lang"])
    order, saved = _resumed(given) if given["resume"] else _ordered(given, arguments)
    _carry_out(order, saved, quiet=given["quiet"])
    start_ns = perf_counter_ns()
    written = write(order.folder, saved, lang)
    note_time(order.folder, saved, "report", perf_counter_ns() - start_ns)
    show(written, as_json=given["json"], quiet=given["quiet"])
    return 1 if saved.failed_cells or not written.whole else 0


def _epilog() -> str:
    return f"systems:\n{flags.systems_help()}\n\ncommands (each has its own --help):\n{summaries()}"


def _ordered(given: Mapping[str, Any], arguments: Sequence[str]) -> tuple[Order, Run]:
    plan = flags.plan_from(given)
    seed = flags.seed(given)
    plan, runtimes, missing = with_present_runtimes(plan, given)
    plan = without_absent(plan, runtimes)
    _expect_an_end(plan)
    folder = given["out"] or run_folder(plan)
    order = Order(plan=plan, runtimes=runtimes, folder=folder, profile=_profiles(given["profile"]))
    preflight(plan)
    return order, new_run(order, seed, ["runner.py", *arguments], missing)


def _profiles(asked: str | None) -> bool:
    """Whether perf was asked for and runs here; a line if it does not."""
    why_not = obstacle() if asked else NOTHING
    if why_not:
        note(str(why_not))
    return bool(asked) and not why_not


def _resumed(given: Mapping[str, Any]) -> tuple[Order, Run]:
    allowed = ("resume", "json", "quiet", "lang", "interpreter")
    for name, value in given.items():
        if value not in (None, False, []) and name not in allowed:
            raise BadInput(
                f"--resume goes on with the saved plan; --{name.lower().replace('_', '-')} cannot change it."
            )
    saved = resumed(given["resume"])
    plan, runtimes, _ = with_present_runtimes(Plan.from_json(saved.plan), {**given, "require": None})
    order = Order(plan=without_absent(plan, runtimes), runtimes=runtimes, folder=given["resume"])
    check_same_runtimes(saved, runtimes)
    preflight(plan)
    return order, saved


def _expect_an_end(plan: Plan) -> None:
    """Raises BadInput where an interval's width alone is to end the run, and nothing has an interval."""
    until = plan.until
    if until.width and not until.seconds and plan.blocks == MAX_BLOCKS and plan.sides < 2:
        raise BadInput(
            f"until is {100 * until.width:g}%, and there is nothing to compare: only one runtime, or one service, "
            "takes part. Name two, or end the run by --blocks N or a time such as --until 10min."
        )


def _enough(plan: Plan) -> Enough:
    """Whether a run has all the blocks it needs, by the plan's `until`."""

    def enough(saved: Run, spent_ns: int) -> bool:
        from reports.findings.findings import widest

        until = plan.until
        if until.seconds and spent_ns >= until.seconds * 1e9:
            return True
        return bool(until.width) and widest(saved) <= until.width

    return enough


def _carry_out(order: Order, saved: Run, *, quiet: bool) -> None:
    from reports.terminal.progress import display

    try:
        until = order.plan.until
        with display(quiet=quiet, open_ended=bool(until.width or until.seconds)) as progress:
            carry_out(order, saved, progress, _enough(order.plan))
    except KeyboardInterrupt:
        note(f"Stopped. {len(saved.cells)} cells are saved; go on with: python runner.py --resume {order.folder}")
        raise
