"""The section "Validity" of a report: the checks of a run, and the basis of its verdicts."""

from collections.abc import Callable, Iterator, Sequence

from core.fingerprint import CODE, ENVIRONMENTS, code_changes, environment_changes
from core.messages import NOTHING, SEMICOLON, Message, chained, listed, message, plural, verbatim
from core.method import FEWEST_TO_PIN, SAME, placement
from core.result import NOT_TRIED, CellResult, Run
from core.runtime import NATIVE
from core.system import CLIENT, SERVICE
from reports.document.model import Datum, Section, plain_table, traced, words
from reports.document.values import percent
from reports.facts.cells import Row, grouped, runtimes
from reports.facts.commands import command_line
from reports.facts.comparisons import Comparison, confounds_of, is_anytime
from reports.facts.gates import (
    MOST_DISTURBED,
    MOST_IN_USE,
    MOST_SATURATION,
    background,
    blocks_to_time,
    cores_in_use,
    idle_cores,
    median_saturation,
    not_quiet,
    otherwise_disturbed,
)
from reports.facts.hosts import cores_of
from reports.facts.inside import (
    MOST_IDLE,
    design_of,
    design_words,
    idle_share,
    known_starts,
    typical_noise,
    uneven_starts,
)
from reports.facts.settings import about
from reports.facts.steps import not_separated, steps
from reports.facts.traces import of_cells, of_rows, together
from reports.statistics.significance import DEPENDENT, ENOUGH, depends, independence_is_known
from reports.topics.gaps import elsewhere, missing
from reports.view import View

PLACE = 60
TITLE = message("Validity")
PASSED, WARNING, FAILED, UNKNOWN = "passed", "look", "failed", "unknown"
STATES = {
    PASSED: message("✓ passed"),
    WARNING: message("! warning"),
    FAILED: message("× failed"),
    UNKNOWN: message("? not known"),
}
NOT_RECORDED = message("not recorded in any measurement")
MOST_NOISE = 0.10
MOST_NAMED = 4
MOST_DEPENDENT = 0.20
WORTH_FINDING = 0.05

Check = tuple[Datum, Datum]  # state and finding
CoreUse = list[tuple[float, Row]]  # share of the cores that a row used, and the row


def section(view: View) -> Section:
    """Return the report's section on validity: checks, the basis of the verdicts, and what was not measured."""
    heads = (message("Check"), NOTHING, message("Finding"))
    checks = plain_table(TITLE, heads, checked(view), kind="checks")
    cells = of_cells(view.run.cells)
    sentences = tuple(traced(sentence, cells) for sentence in verdict_basis(view))
    rest = Section(key="rests-on", title=message("The basis of the verdicts"), sentences=sentences)
    return Section(
        key="validity", title=TITLE, tables=(checks,), parts=(rest, missing(view), elsewhere(view)), folded=True
    )


def checked(view: View) -> list[tuple[Message, Datum, Datum]]:
    """Return the name, the state and the finding of each check."""
    return [
        (name, *check(view)) for name, check in CHECKS.items() if check is not _check_idle or view.plan.method.slices
    ]


def checks_line(view: View) -> Datum:
    """Return a summary of all checks in one line, with the names of the checks that did not pass."""
    by_state = grouped(checked(view), lambda check: check[1].state)
    passed, unknown, *bad = (by_state.get(f"state {state}", []) for state in (PASSED, UNKNOWN, FAILED, WARNING))
    every, worst = sum(map(len, by_state.values())), next(filter(None, bad), [])
    line = message("✓ All {all} checks passed.", all=every)
    if unknown:
        line = message(
            "✓ {passed} of {all} checks passed, {unknown} not known.",
            passed=len(passed), all=every, unknown=len(unknown),
        )  # fmt: skip
    if worst:
        names = listed((name for of_state in bad for name, *_ in of_state), SEMICOLON)
        line = message(
            "! {passed} of {all} checks passed, {unknown} not known. Not passed: {names}.",
            passed=len(passed), all=every, unknown=len(unknown), names=names,
        )  # fmt: skip
    return words(line, state=worst[0][1].state if worst else f"state {PASSED}")


# ---- checks --------------------------------------------------------------------------------------------------------


def _result(state: str, seen: Message, cells: str = "") -> Check:
    """Return the state and the finding of a check as two table cells.

    cells: names of the cells that the finding comes from
    """
    return words(STATES[state], state=f"state {state}"), words(seen, cells=cells, leads=bool(cells))


def _cells_result(bad: str, known: str, seen: Message, worst: str = WARNING) -> Check:
    """Return a check's result: *worst* if there are *bad* measurements, unknown if nothing was measured, else passed.

    known: names of all cells that the check looked at
    """
    return _result(worst if bad else PASSED if known else UNKNOWN, seen, bad or known)


def _check_cells(view: View) -> Check:
    cells, bad = view.run.cells, view.run.failed_cells
    seen = message("{ok} of {all} measurements are ok", ok=len(cells) - len(bad), all=len(cells))
    if not_tried := sum(cell.reason.code == NOT_TRIED for cell in bad):
        seen = listed(
            [seen, plural("{count} measurement was not tried", "{count} measurements were not tried", count=not_tried)]
        )
    return _cells_result(of_cells(bad), of_cells(cells), seen, FAILED)


def _check_code(view: View) -> Check:
    """Check that all measurements used the same code, and those of each system and runtime the same environment."""
    cells = [cell for cell in view.run.cells if cell.code]  # cells without code were not tried
    if not cells:
        return _result(UNKNOWN, NOT_RECORDED)
    code, first, changed = cells[0].code, dict[tuple[str, str], CellResult](), list[CellResult]()
    codes, environments = (view.run.fingerprints.get(kind, {}) for kind in (CODE, ENVIRONMENTS))
    changes = list[Message]()
    for cell in cells:
        base = first.setdefault((cell.system, cell.runtime), cell)
        if (cell.code, cell.environment) != (code, base.environment):
            changed.append(cell)
            before, after = (environments.get(one.environment, {}) for one in (base, cell))
            changes += code_changes(codes.get(code, {}), codes.get(cell.code, {}))
            changes += environment_changes(before, after, cell.runtime)
    if not changed:
        return _result(
            PASSED,
            message("all measurements used version {state} of gilscope's code", state=code),
            of_cells(cells),
        )
    seen = message(
        "{count} of {all} measurements used different code, packages or programs: {changes}",
        count=len(changed),
        all=len(view.run.cells),
        changes=listed(dict.fromkeys(changes or [NOT_RECORDED]), SEMICOLON),
    )
    return _result(WARNING, seen, of_cells(changed))


def _check_answers(view: View) -> Check:
    ok, wrong = view.ok_cells, sum(cell.wrong for cell in view.run.cells)
    sent, answered = sum(cell.requests for cell in ok), sum(cell.answered for cell in ok)
    seen = message(
        "{answered:,} of {sent:,} requests were answered, {wrong:,} answers were wrong",
        answered=answered,
        sent=sent,
        wrong=wrong,
    )
    bad = [cell for cell in view.run.cells if cell.wrong or (cell.status == "ok" and cell.answered < cell.requests)]
    return _cells_result(of_cells(bad), of_cells(ok if sent else []), seen, FAILED)


def _check_gil(view: View) -> Check:
    interpreted = [cell for cell in view.run.cells if cell.runtime != NATIVE]
    invalid = [cell for cell in interpreted if cell.status == "invalid"]
    reporting = [
        cell
        for cell in interpreted
        if any(process.get("gil_enabled_end") is not None for process in (*cell.services, *cell.clients))
    ]
    seen = message(
        "{count} of {all} measurements report the state of the GIL, {invalid} measurements are invalid",
        count=len(reporting), all=len(interpreted), invalid=len(invalid),
    )  # fmt: skip
    return _cells_result(of_cells(invalid), of_cells(reporting), seen, FAILED)


def _check_time(view: View) -> Check:
    timed = [row for row in _compared_rows(view) if any(cell.clients for cell in row.good)]
    short = [row for row in timed if blocks_to_time(row.good)]
    seen = message(
        "{short} of {all} pairs of setting and runtime were timed for less than 2 s", short=len(short), all=len(timed)
    )
    return _cells_result(of_rows(short), of_rows(timed), seen, FAILED)


def _compared_rows(view: View) -> list[Row]:
    """Return the result rows of the compared runtimes, or all result rows if no runtimes are compared."""
    arms = {arm for comparison in view.comparisons for arm in (comparison.denominator, comparison.numerator)}
    return [row for row in view.rows if not arms or row.runtime in arms]


def _check_builds(view: View) -> Check:
    compared = [comparison for comparison in view.comparisons if comparison.step != "aa"]
    if confounds := confounds_of(compared):
        return _result(WARNING, listed(confounds, SEMICOLON))
    facts = [view.run.runtimes.get(arm, {}) for one in compared for arm in (one.denominator, one.numerator)]
    if not facts:
        return _result(UNKNOWN, message("no builds are compared"))
    if not all(known.get("compiler") and known.get("flags") for known in facts):
        return _result(UNKNOWN, message("the run does not record the compiler and flags of every runtime"))
    return _result(PASSED, message("the compared builds have the same compilers, flags and versions"))


def _core_use(view: View, share_of: Callable[[Sequence[CellResult], Run], float | None]) -> CoreUse:
    return [(share, row) for row in _compared_rows(view) if (share := share_of(row.good, view.run)) is not None]


def _use_result(used: CoreUse, above: Sequence[Row], most: float, seen: Message) -> Check:
    """Return the result of a check of core use: a warning if any result shows too much use, otherwise passed.

    above: the result rows whose use of cores is above the limit of the check
    """
    return _cells_result(of_rows(above), of_rows(row for share, row in used if share == most), seen)


def _check_clients(view: View) -> Check:
    used = _core_use(view, median_saturation)
    if not used:
        return _result(UNKNOWN, NOT_RECORDED)
    most, above = max(share for share, _ in used), [row for share, row in used if share > MOST_SATURATION]
    seen = message(
        "clients used at most {most:.0%} of the cores available to them, and more than {limit:.0%} in {count} of {all} "
        "pairs of setting and runtime",
        most=most, limit=MOST_SATURATION, count=len(above), all=len(used),
    )  # fmt: skip
    return _use_result(used, above, most, seen)


def _check_cores(view: View) -> Check:
    used = _core_use(view, cores_in_use)
    if not used:
        return _result(UNKNOWN, NOT_RECORDED)
    most, above = max(share for share, _ in used), [row for share, row in used if share >= MOST_IN_USE]
    seen = message("services and clients together used at most {most:.0%} of the cores", most=most)
    if above:
        seen = message("{seen}, so ratios describe services and clients together, not the services alone", seen=seen)
    return _use_result(used, above, most, seen)


def _check_idle(view: View) -> Check:
    """Check that the services and clients of one runtime were idle while other runtimes were measured."""
    cells = view.run.cells
    used = idle_cores(cells)
    if not used:
        return _result(UNKNOWN, NOT_RECORDED)
    if busy := background(cells):
        return _result(WARNING, listed(busy, SEMICOLON), of_cells(cells))
    seen = message(
        "each runtime or service used at most {share:.1%} of a core while not measured", share=max(used.values())
    )
    return _result(PASSED, seen, of_cells(cells))


def _check_quiet(view: View) -> Check:
    cells, seen = view.run.cells, view.others
    disturbed = otherwise_disturbed(cells)
    if not (disturbed or seen):
        if view.machine.quiet is None or not cells:
            return _result(UNKNOWN, NOT_RECORDED)
        return _result(PASSED, message("no disturbance was seen in any measurement"), of_cells(cells))
    shares = [len(disturbed) / len(cells), *(comparison.disturbed or 0.0 for comparison in view.comparisons)]
    is_bad = (disturbed and max(shares) > MOST_DISTURBED) or (seen and seen.is_busy)
    found = [*([seen.blocks] if seen else []), *([not_quiet(cells, disturbed)] if disturbed else [])]
    return _result(WARNING if is_bad else PASSED, listed(found, SEMICOLON), of_cells(disturbed or cells))


def _check_independence(view: View) -> Check:
    """Check that results of blocks (measured rounds) are independent. A few comparisons look dependent by chance."""
    known = [one for one in view.compared if one.step != "aa" and one.dependence is not None]
    if not known:
        return _result(UNKNOWN, message("there are too few blocks (measured rounds) for this check"))
    dependent = [one for one in known if depends(one.dependence)]
    cells = together(one.cells for one in dependent or known)
    if not dependent and not all(independence_is_known(one.dependence, one.blocks) for one in known):
        seen = message(
            "no comparison shows that results depend on earlier blocks (measured rounds). With fewer than {blocks} "
            "blocks, this check often misses a ratio that drifts from block to block, and the interval of such a ratio "
            "is too narrow. Effects of the machine that are equal for both compared runtimes do not change the ratio.",
            blocks=ENOUGH,
        )
        return _result(UNKNOWN, seen, cells)
    seen = message(
        "in {count} of {all} comparisons, the results of blocks (measured rounds) seem to depend on earlier blocks",
        count=len(dependent),
        all=len(known),
    )
    state = WARNING if len(dependent) > MOST_DEPENDENT * len(known) else PASSED
    return _result(state, chained([seen, DEPENDENT if dependent else NOTHING]), cells)


def _check_warmup(view: View) -> Check:
    known, uneven = known_starts(view.rows), uneven_starts(view.rows)
    seen = message("there are too few blocks (measured rounds) for this check, or measurements are too short")
    if uneven:
        most = max(uneven, key=lambda start: abs(start.loss))
        seen = message(
            "throughput was not yet steady in the first {seconds:.2f} s, which lowered the number of answers by "
            "{loss:.1%}. This affects {count} of {all} pairs of setting and runtime: use a longer --warmup",
            seconds=most.seconds, loss=most.loss, count=len(uneven), all=len(known),
        )  # fmt: skip
    elif known:
        seen = message("throughput is steady from the start of each measurement")
    return _cells_result(of_rows(start.row for start in uneven), of_rows(known), seen)


def _check_awake(view: View) -> Check:
    """Check that cores do not sleep during requests. Settings with KEEP_AWAKE or many requests in flight are exempt."""
    cores = cores_of(view.run, SERVICE, CLIENT)
    asleep = [row for row in view.rows if not row.params.get("KEEP_AWAKE")]
    if view.rows and not asleep:
        return _result(PASSED, message("idle cores were kept awake (KEEP_AWAKE)"))
    known = [(share, row) for row in asleep if cores and (share := idle_share(row, cores)) is not None]
    if not known:
        return _result(UNKNOWN, message("no measurement has so few requests in flight that cores could sleep"))
    slept = [row for share, row in known if share > MOST_IDLE]
    most = max(0.0, *(share for share, _ in known))
    seen = message(
        "of the cores for which there was work (one core for each request in flight), at most {most:.0%} were idle",
        most=most,
    )
    if slept:
        names = [about(verbatim(row.runtime), view.settings.name(row.system, row.params)) for row in slept[:MOST_NAMED]]
        seen = message(
            "{seen}; wake-up latency affects {rows}: see KEEP_AWAKE", seen=seen, rows=listed(names, SEMICOLON)
        )
    return _cells_result(of_rows(slept), of_rows(row for _, row in known), seen)


def _check_noise(view: View) -> Check:
    known, floors = _noise_floors(view)
    if not known:
        return _result(UNKNOWN, message("not measured"))
    differs = [one for one in known if one.verdict in ("faster", "slower")]
    cells = together(one.cells for one in differs or known)
    if differs:
        arm = differs[0].denominator
        seen = message("{arm} was measured twice, and the two results differ significantly", arm=arm)
        return _result(FAILED, seen, cells)
    return _result(PASSED if max(floors) <= MOST_NOISE else WARNING, _noise_range(floors), cells)


def _noise_floors(view: View) -> tuple[list[Comparison], list[float]]:
    """Return the A/A comparisons that have a known noise floor, and a list of these noise floors."""
    known = [one for one in view.comparisons if one.step == "aa" and one.noise_floor is not None]
    return known, [one.noise_floor or 0.0 for one in known]


def _noise_range(floors: Sequence[float]) -> Message:
    least, most = percent(min(floors)), percent(max(floors))
    return verbatim(least) if least == most else message("{least} to {most}", least=least, most=most)


CHECKS = {
    message("All planned measurements were made"): _check_cells,
    message("All measurements used the same code and packages"): _check_code,
    message("All requests were answered correctly"): _check_answers,
    message("The state of the GIL matches the runtime's name"): _check_gil,
    message("Each setting was timed for at least 2 s in total under each runtime"): _check_time,
    message("Compared builds have no unintended differences"): _check_builds,
    message("Clients are not the bottleneck"): _check_clients,
    message("Cores are not fully used"): _check_cores,
    message("Cores stay awake while requests are in flight"): _check_awake,
    message("The machine was quiet"): _check_quiet,
    message("Services and clients use no CPU while others are measured"): _check_idle,
    message("The warm-up was long enough"): _check_warmup,
    message("Blocks (rounds of measurement) are statistically independent"): _check_independence,
    message("The noise floor is low (A/A: the same runtime twice)"): _check_noise,
}


# ---- in words ------------------------------------------------------------------------------------------------------


def verdict_basis(view: View) -> Iterator[Message]:
    """Yield sentences on the measurement behind the verdicts: blocks, order, noise floor, clients and pinning."""
    run, plan, cores = view.run, view.plan, view.machine.available_cores
    blocks = plural("{count} block", "{count} blocks", count=len({cell.block for cell in run.cells}))
    yield message(
        "The run has {blocks}. A block measures all settings and runtimes in balanced random order (seed {seed}).",
        blocks=blocks,
        seed=run.seed,
    )
    if is_anytime(run):
        yield message(
            "The number of blocks depends on the results of the first blocks. Verdicts are corrected for this, as if "
            "the results were checked after every block. Intervals are not corrected, so they are slightly too narrow."
        )
    if floors := _noise_floors(view)[1]:
        yield message("Noise floor (the same runtime measured twice): {floor}.", floor=_noise_range(floors))
    elif not any(one.step == "aa" for one in view.comparisons):
        yield message("The noise floor is not known, because no runtime was measured twice. Use --aa to measure it.")
    yield from noise_sentences(view)
    if (client := plan.method.client_runtime) == SAME:
        yield message(
            "Clients run under the service's runtime, so services and clients change together. Use --client-runtime "
            "to keep the clients' runtime the same."
        )
    else:
        yield message("Clients run under {runtime} in every measurement, so only the service changes.", runtime=client)
    is_pinned = plan.method.is_pinned or plan.layout or plan.user_service or plan.view
    if cores >= FEWEST_TO_PIN and not is_pinned:
        yield message(
            "Services and clients were not pinned to cores, although the machine has {cores} cores: {advice}.",
            cores=cores,
            advice=placement(cores),
        )
    yield from not_separated(steps(runtimes(run), {}, run.runtimes))


def noise_sentences(view: View) -> Iterator[Message]:
    """Yield sentences on the noise of ratios, and on the number and length of blocks that detect a 5 % difference."""
    noise, design = typical_noise(view.comparisons), design_of(view.run, view.comparisons, WORTH_FINDING)
    if noise is None:
        return
    yield message(
        "A throughput ratio varies from block to block (measured rounds) with a standard deviation of {sd}. Process "
        "restarts contribute {between} to it; only more blocks reduce this. Variation within measurements of "
        "{seconds:.1f} s contributes {within}; longer measurements reduce this, too.",
        sd=percent(noise.sd()), between=percent(noise.between), within=percent(noise.within), seconds=noise.seconds,
    )  # fmt: skip
    if design and not view.plan.view:
        command = f"{command_line(view.run, '--duration', '--blocks')} {design.flags}"
        yield design_words(design, WORTH_FINDING, command)
