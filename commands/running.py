"""Begin a run, or continue a saved one: choose, check, measure, report.

run.py calls begin() or resume(). *given* are the flags as the user typed them. *asked* are these
flags, completed from the project. Both are unparsed, by Option.name. A Run (record/saved_run.py) is
changed in place while lab/run measures it, and only by the process that has locked its folder.
The order of the steps matters: whatever can be refused is refused before anything is measured.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from time import perf_counter_ns

from commands.chosen import choose_runtimes, expect_search, opened, planned, without_absent
from commands.estimate import expect_in_budget, no_verdict, run_time, search_time, with_end
from commands.output import NO_VERDICT, THRESHOLD_MISSED, output
from commands.project import complete_from_project
from commands.report import Written, show, write
from config import flags
from config import plan_options as options
from config.options import Flags, Given, Option, given_flags
from config.run_plan import Plan
from config.user_service import service_flags
from core.messages import SENTENCES, Arg, BadInput, chained, listed, plural
from core.method import cores_usable
from core.program import SCRIPT
from core.resume import resume_command
from lab.folders import Sandbox
from lab.hosts.cluster import HostCluster
from lab.profile.lock_watcher import obstacle_to
from lab.run.control_groups import require_limits
from lab.run.feasible import choose_arm_order, preflight
from lab.run.measured_runtimes import AnyRuntime
from lab.run.running_sidecars import standing
from lab.run.runs import (
    Order,
    check_unchanged,
    count_unmeasured,
    expect_no_foreign_files,
    expect_no_run,
    load_to_resume,
    new_run,
    note_time,
    run_folder,
    run_lock,
)
from record.saved_plan import Until
from record.saved_run import Run
from reports.exports import IN_FOLDER


def begin(given: Flags, arguments: Sequence[str]) -> int:
    """Measure and report a new run. Return the exit status."""
    if given["out"]:
        expect_no_run(Path(given["out"]))  # before anything is installed
    asked = complete_from_project(given, output.note)
    with planned(asked) as (wanted, spread):
        require_limits(wanted.method)
        seed = flags.value_of(options.SEED, asked)
        plan, runtimes, missing = choose_runtimes(wanted, asked, spread)
        plan = with_end(choose_arm_order(without_absent(plan, runtimes)), given)
        if plan.arm_order_reason and not plan.arm_order and len(plan.compared) > 1:
            output.note(
                "Runtimes are measured one after the other: {reason}.", reason=plan.arm_order_reason
            )
        _expect_end(plan)
        expect_in_budget(plan, cores_usable())
        if not (given["quiet"] or plan.objectives or plan.user_service):
            cores = cores_usable()
            output.note(chained([run_time(plan, cores), no_verdict(plan, cores)], SENTENCES))
        folder = Path(asked["out"]) if asked["out"] else run_folder(plan)
        order = _order(plan, runtimes, folder, asked, spread)
        hosts = {"hosts": spread.facts()} if spread else {}
        preflight(plan)
        run = new_run(order, seed, [SCRIPT, *arguments], missing, **hosts)
        # checked again in the lock, because another process may have used the folder meanwhile
        with run_lock(folder) as sandbox:
            expect_no_run(folder)
            expect_no_foreign_files(folder, IN_FOLDER)
            return _measured(order, run, sandbox, given)


def resume(given: Flags, parser: flags.Parser) -> int:
    """Continue the run that --resume names, and report it. Return the exit status."""
    _expect_saved_plan(given, parser)
    folder = Path(given["resume"])
    saved = load_to_resume(
        folder
    )  # raises an error if the run is from another machine, before anything is written
    require_limits(saved.plan.method)
    with run_lock(folder) as sandbox:
        # loaded again in the lock, because another process may have continued the run meanwhile
        run = load_to_resume(folder)
        own = service_flags.restore_secrets(
            run.plan.own or {},
            service_flags.secrets_in_flags(given),
            service_flags.secrets_in_file(given["plan"]),
        )
        plan = extended(Plan.from_saved(replace(run.plan, own=own)), run, given["blocks"])
        expect_search(plan, given)
        with opened(plan) as spread:
            plan, runtimes, _ = choose_runtimes(plan, given, spread)
            plan = without_absent(plan, runtimes)
            order = _order(plan, runtimes, folder, given, spread)
            if not given["accept_changes"]:
                check_unchanged(run, order)
            preflight(plan)
            # nothing else may differ from the saved plan
            run.plan = replace(
                run.plan,
                until=plan.until,
                blocks=plan.blocks,
                extended=plan.extended,
                first_look=plan.first_look,
            )
            return _measured(order, run, sandbox, given)


def _measured(order: Order, run: Run, sandbox: Sandbox, given: Flags) -> int:
    """Measure and report a run whose folder this process has locked. Return the exit status."""
    from analysis.decisions import is_hopeless

    earlier = len(run.cells)
    _carry_out(order, run, sandbox, quiet=given["quiet"])
    start_ns = perf_counter_ns()
    written = write(order.folder, run)
    note_time(order.folder, run, "report", perf_counter_ns() - start_ns)
    show(written, given)
    measured = {cell.runtime for cell in run.cells}
    absent = [name for name in flags.value_of(options.RUNTIMES, given, ()) if name not in measured]
    if absent:
        output.note(
            "Named with --runtime, but not measured: {names}. The notes above say why.",
            names=absent,
        )
    missing = 0 if order.plan.objectives else count_unmeasured(run)
    if not order.plan.objectives and is_hopeless(run.cells[earlier:]):
        output.note(
            "All measurements failed and no answer was right, so no further block was measured. "
            "Correct what the reasons of the failed measurements say."
        )
    if missing:
        output.note(
            plural(
                "{count} measurement of the plan is missing. To go on: {command}",
                "{count} measurements of the plan are missing. To go on: {command}",
                count=missing,
                command=resume_command(order.folder, run.command, run.plan.own),
            )
        )
    slower = _report_slower(written, order.plan.fail_if_slower) if order.plan.fail_if_slower else 0
    failed = bool(run.failed_cells)
    if (
        order.plan.objectives
    ):  # then requests may fail because of the rate, but each arm must have a capacity
        failed = bool(written.view.failed_cells) or not all(
            one.crossing for one in written.view.capacities
        )
    return slower or (1 if failed or missing or absent or not written.is_complete else 0)


def _report_slower(written: Written, share: float) -> int:
    """Print where the plan's last runtime is or may be slower than its first runtime. Return the
    exit status.
    """
    from analysis.decisions import from_first_to_last, regressions
    from analysis.formats import whole_percent
    from record.comparison import VALUE
    from reports.parts.headline import headline, ratio_text

    view = written.view
    own = view.plan.user_service
    varied = own.varied if own and own.variants else ""
    compared = from_first_to_last(view.comparisons)
    if varied:
        compared = [one for one in view.of_values if one.step == VALUE and one.change[0] == varied]
    slower, unclear = regressions(compared, share)
    for one in (*slower, *unclear):
        setting: Arg = view.settings.short(one)
        before: Arg = one.denominator
        after: Arg = one.numerator
        if varied:
            setting = listed(filter(None, (one.numerator, view.settings.values(one))))
            _, before, after = one.change
        pair = {"setting": setting, "numerator": after, "denominator": before}
        pair["share"] = whole_percent(share)
        if one in slower:
            output.note(
                "{setting}: {numerator} is slower than {denominator} by more than {share}. {said}",
                said=headline(one, view.headings) if one.step != VALUE else ratio_text(one),
                **pair,
            )
        else:
            output.note(
                "{setting}: {numerator} may be slower than {denominator} by more than {share}: "
                "{why}.",
                why=one.why,
                **pair,
            )
    if slower:
        return THRESHOLD_MISSED
    return NO_VERDICT if unclear or not compared else 0


def _order(
    plan: Plan,
    runtimes: dict[str, AnyRuntime],
    folder: Path,
    given: Flags,
    spread: HostCluster | None,
) -> Order:
    """Return the order of a run, with those requested profiles that the services' machine supports.
    Print a note for each unsupported profile.
    """
    profiles: list[str] = []
    for kind in flags.value_of(options.PROFILE, given, ()):
        obstacle = spread.obstacle(kind) if spread else obstacle_to(kind)
        if obstacle:
            output.note(obstacle)
        else:
            profiles.append(kind)
    return Order(
        plan=plan, runtimes=runtimes, folder=folder, profiles=tuple(profiles), places=spread
    )


def _expect_saved_plan(given: Flags, parser: flags.Parser) -> None:
    """Raise BadInput for flags that would change the saved plan that --resume continues."""
    if given["blocks"] is not None and not given["blocks"].startswith("+"):
        raise BadInput(
            "--resume continues the saved plan, so --blocks cannot change it. To add blocks, use "
            "--blocks +{added}",
            added=given["blocks"],
        )
    changing = [
        option.flag
        for option in given_flags(parser.options, given)
        if not option.beside_resume and not _gives_secret(option, given)
    ]
    if changing:
        raise BadInput(
            "--resume continues the saved plan, so {flags} cannot change it. Leave out {flags}.",
            flags=changing,
        )


def _gives_secret(option: Option, given: Flags) -> bool:
    """Return whether *option* gives the service a secret, which --resume needs again."""
    # the name of a saved answer contains its request, and that of a target its --name
    beside = {"request": "expect_json", "name": "target"}.get(option.name, option.name)
    values = {name: given[name] for name in (option.name, beside)}
    return bool(service_flags.secrets_in_flags(values))


def extended(plan: Plan, run: Run, added: str | None) -> Plan:
    """Return *plan* with N additional blocks for --blocks +N. Raises BadInput.

    added: the value of --blocks, such as "+4", or None
    The run then ends after these blocks, whatever --until said. Verdicts need to know the block of
    the first look at the results (first_look), because looking again must not make them too easy.
    """
    if added is None:
        return plan
    measured = max((cell.block for cell in run.cells), default=0)
    blocks = Given(value=added[1:], name=options.BLOCKS.flag).whole(1, options.MAX_BLOCKS)
    first_look = plan.first_look if plan.extended or plan.until.looks else measured
    longer = (measured if plan.until else plan.blocks) + blocks
    return replace(plan, blocks=longer, until=Until(), extended=True, first_look=first_look)


def _expect_end(plan: Plan) -> None:
    """Raise BadInput if only the result of a comparison can end the run, but the plan has nothing
    to compare.
    """
    until = plan.until
    if (
        until.looks
        and not until.seconds
        and plan.blocks == options.MAX_BLOCKS
        and len(plan.compared) < 2
    ):
        raise BadInput(
            "--until needs a comparison, but only one runtime or service takes part. Name two, "
            "or end the run with --blocks N or a time such as --until 10min."
        )


def _carry_out(order: Order, run: Run, sandbox: Sandbox, *, quiet: bool) -> None:
    from analysis.settings import service_names
    from lab.run.experiment import RunInProgress, carry_out, search_capacity
    from reports.render.progress import display

    try:
        until, objectives = order.plan.until, order.plan.objectives
        if objectives:
            output.note(search_time(order.plan))
        cells = [entry.cell for entry in order.plan.entries()]
        # the time that is left; earlier parts of a resumed run have used some
        limit_s = until.seconds - run.spent_ns.get("cells", 0) / 1e9 if until.seconds else inf
        with (
            display(
                cells,
                service_names(run.plan.user_service),
                quiet=quiet,
                limit_s=max(0.0, limit_s) if until or objectives else None,
                duration_s=order.plan.method.duration_s,
                language=output.language,
            ) as progress,
            standing(order.plan, order.runtimes) as beside,
        ):
            under_way = RunInProgress(order, run, sandbox, progress, beside)
            if objectives:
                search_capacity(under_way)
            else:
                carry_out(under_way)
    except KeyboardInterrupt:
        output.note(
            plural(
                "The run was stopped. {count} measurement is saved. Continue with: {command}",
                "The run was stopped. {count} measurements are saved. Continue with: {command}",
                count=len(run.cells),
                command=resume_command(order.folder, run.command, run.plan.own),
            )
        )
        raise
