"""The checks of a run: each with its state, its finding, and the cells that the
finding comes from.

The section "Validity" (reports/sections/validity.py) shows every check, and the section "Verdict"
shows checks_line(). A check takes the View of a run and returns a Check. To add one, write
_check_NAME and add it to CHECKS, and to OF_PROBES if a search for the capacity has it, too.
The names of cells are groups for links on the page (of_cells in analysis/cell_index.py).
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from analysis.cell_index import Row, of_cells, of_rows, together
from analysis.comparison_words import Comparison, confounds_of
from analysis.confounds import build_flags
from analysis.formats import percent
from analysis.gates import (
    MOST_DISTURBED,
    MOST_IN_USE,
    MOST_SATURATION,
    background,
    blocks_to_time,
    cores_in_use,
    cores_of,
    idle_cores,
    idle_share,
    median_saturation,
    not_quiet,
    otherwise_disturbed,
    packaged,
    unread,
)
from analysis.settings import about
from analysis.significance import DEPENDENT, ENOUGH, depends, independence_is_known
from analysis.stats import FEWEST_FOR_INTERVAL
from analysis.unsteady_start import starts
from core.cell import Value
from core.fingerprint import CODE, ENVIRONMENTS, code_changes, environment_changes
from core.messages import NOTHING, SEMICOLON, Message, chained, listed, message, plural, verbatim
from core.runtime import NATIVE, RuntimeFacts
from core.system import CLIENT, SERVICE
from record.comparison import DIFFERENT
from record.saved_run import NOT_TRIED, CellResult, Run
from reports.document import Datum, words
from reports.view import View

# states of a check, which are also CSS classes of render/templates/page.css
PASSED, WARNING, FAILED, UNKNOWN = "passed", "look", "failed", "unknown"
NOT_RECORDED = message("not recorded in any measurement")
MOST_NOISE = 0.10  # noise floor, as a distance from a ratio of 1
MOST_NAMED = 4  # settings that the finding on sleeping cores names
MOST_DEPENDENT = 0.20  # share of comparisons; a few look dependent by chance
MOST_ASLEEP = 0.1  # idle share of the cores that requests in flight could have kept busy
Check = tuple[
    str, Message, str
]  # state, finding, and the names of the cells that the finding comes from


def checked(view: View) -> dict[Message, Check]:
    """Return the result of each check that applies to the run, by the name of the check."""
    applying = {*OF_PROBES} if view.plan.objectives else {*CHECKS.values()}
    if not view.plan.method.slices:
        applying.discard(_check_idle)
    return {name: check(view) for name, check in CHECKS.items() if check in applying}


def checks_line(view: View) -> Datum:
    """Return a summary of all checks in one line, with the names of the checks that
    did not pass.
    """
    states = {name: state for name, (state, *_) in checked(view).items()}
    bad = [name for worse in (FAILED, WARNING) for name, state in states.items() if state == worse]
    named = [*states.values()]
    # an unknown result does not count as passed
    passed, unknown = named.count(PASSED), named.count(UNKNOWN)
    counts: dict[str, Any] = {"passed": passed, "all": len(named), "unknown": unknown}
    line = message("✓ All {all} checks passed.", all=len(named))
    if unknown:
        line = message("✓ {passed} of {all} checks passed, {unknown} not known.", **counts)
    if bad:
        line = message(
            "! {passed} of {all} checks passed, {unknown} not known. Not passed: {names}.",
            **counts,
            names=listed(bad, SEMICOLON),
        )
    return words(line, state=f"state {states[bad[0]] if bad else PASSED}")


def _result(
    seen: Message, bad: object, cells: str, unknown: Message = NOTHING, worst: str = WARNING
) -> Check:
    """Return a check's result: *worst* if it found anything *bad*, passed if it looked at cells,
    and else unknown.

    seen:    the finding
    bad:     what is wrong; only its truth counts
    cells:   names of the bad cells, or else of all cells that the check looked at
    unknown: replaces the finding *seen* if there are no such cells
    """
    if not (bad or cells):
        return UNKNOWN, unknown or seen, ""
    return worst if bad else PASSED, seen, cells


def _check_cells(view: View) -> Check:
    cells, bad = view.run.cells, view.failed_cells
    seen = [message("{ok} of {all} measurements are ok", ok=len(cells) - len(bad), all=len(cells))]
    if not_tried := sum(cell.reason.code == NOT_TRIED for cell in bad):
        seen.append(
            plural(
                "{count} measurement was not tried",
                "{count} measurements were not tried",
                count=not_tried,
            )
        )
    return _result(listed(seen), bad, of_cells(bad or cells), worst=FAILED)


def _check_code(view: View) -> Check:
    """Check that all measurements used the same code, and those of each system and runtime the same
    environment.
    """
    cells = [cell for cell in view.run.cells if cell.code]  # cells without code were not tried
    if not cells:
        return UNKNOWN, NOT_RECORDED, ""
    first, changed = dict[tuple[Value, ...], CellResult](), list[CellResult]()
    codes, environments = (view.run.fingerprints.get(kind, {}) for kind in (CODE, ENVIRONMENTS))
    changes = list[Message]()
    for cell in cells:
        base = first.setdefault(packaged(cell), cell)
        # code must equal that of the first cell, and an environment that of the first cell with the
        # same system and arm
        if (cell.code, cell.environment) != (cells[0].code, base.environment):
            changed.append(cell)
            before, after = (environments.get(one.environment, {}) for one in (base, cell))
            changes += code_changes(codes.get(cells[0].code, {}), codes.get(cell.code, {}))
            changes += environment_changes(before, after, cell.runtime)
    seen = message(
        "all measurements used version {state} of the code of gilscope and of the services",
        state=cells[0].code,
    )
    if changed:
        seen = message(
            "{count} of {all} measurements used different code, packages or programs: {changes}",
            count=len(changed),
            all=len(view.run.cells),
            changes=listed(dict.fromkeys(changes or [NOT_RECORDED]), SEMICOLON),
        )
    return _result(seen, changed, of_cells(changed or cells))


def _check_answers(view: View) -> Check:
    """Check the answers of all measurements with clients, those of failed measurements, too."""
    cells = [cell for cell in view.run.cells if cell.clients]
    sent, answered = sum(cell.requests for cell in cells), sum(cell.answered for cell in cells)
    seen = message(
        "{answered:,} of {sent:,} requests were answered, and {wrong:,} answers were wrong",
        answered=answered, sent=sent, wrong=sum(map(_wrong, cells)),
    )  # fmt: skip
    bad = [cell for cell in cells if cell.wrong or cell.errors or cell.answered < cell.requests]
    return _result(seen, bad, of_cells(bad or cells), worst=FAILED)


def _wrong(cell: CellResult) -> int:
    """Return how many answers had a wrong content or another status than was expected."""
    return cell.wrong + sum(count for code, count in cell.errors.items() if code.isdigit())


def _check_gil(view: View) -> Check:
    interpreted = [cell for cell in view.run.cells if cell.runtime != NATIVE]
    invalid = [cell for cell in interpreted if cell.status == "invalid"]
    ok = [cell for cell in interpreted if cell.status == "ok"]
    # without a state of every ok cell, the check names no cells, so its result is unknown
    silent = [*filter(unread, ok)]
    seen = message(
        "the state of the GIL and the JIT was read in {count} of {all} measurements; {invalid} "
        "measurements are invalid",
        count=len(ok) - len(silent), all=len(interpreted), invalid=len(invalid),
    )  # fmt: skip
    return _result(seen, invalid, of_cells(invalid or ([] if silent else ok)), worst=FAILED)


def _check_time(view: View) -> Check:
    timed = [row for row in _compared_rows(view) if any(map(attrgetter("clients"), row.good))]
    short = [row for row in timed if blocks_to_time(row.cells)]
    seen = message(
        "{short} of {all} pairs of setting and runtime were timed for less than 2 s",
        short=len(short),
        all=len(timed),
    )
    return _result(seen, short, of_rows(short or timed), worst=FAILED)


def _compared_rows(view: View) -> list[Row]:
    """Return the result rows of the compared runtimes, or all result rows if no runtimes are
    compared.
    """
    arms = _arms(view.comparisons)
    return [row for row in view.rows if not arms or row.runtime in arms]


def _arms(compared: Iterable[Comparison]) -> set[str]:
    return {arm for one in compared for arm in (one.denominator, one.numerator)}


def _check_builds(view: View) -> Check:
    compared = [one for one in view.comparisons if one.step != "aa"]
    if confounds := confounds_of(compared):
        return WARNING, listed(confounds, SEMICOLON), ""
    facts = [view.run.runtimes.get(arm, RuntimeFacts()) for arm in _arms(compared)]
    if not facts:
        return UNKNOWN, message("no builds are compared"), ""
    if not all(one.compiler and build_flags(one.flags) for one in facts):
        seen = message("the run does not record the compiler and flags of every runtime")
        return UNKNOWN, seen, ""
    return PASSED, message("the compared builds have the same compilers, flags and versions"), ""


def _core_use(
    view: View,
    share_of: Callable[[Sequence[CellResult], Run], float | None],
    is_much: Callable[[float], bool],
) -> tuple[list[float], list[Row], str]:
    """Return the shares of the cores that rows used, the rows that used too much, and the cells
    with the most use.

    share_of: returns the share (0..1) that cells of a run used; None if unknown
    is_much:  whether a share is too much
    """
    used = [
        (share, row)
        for row in _compared_rows(view)
        if (share := share_of(row.good, view.run)) is not None
    ]
    shares = [share for share, _ in used]
    above = [row for share, row in used if is_much(share)]
    return shares, above, of_rows(above or (row for share, row in used if share == max(shares)))


def _check_clients(view: View) -> Check:
    shares, above, cells = _core_use(view, median_saturation, lambda share: share > MOST_SATURATION)
    seen = message(
        "clients used up to {most:.0%} of the cores available to them, and more than {limit:.0%} "
        "in {count} of {all} pairs of setting and runtime",
        most=max(shares, default=0.0), limit=MOST_SATURATION, count=len(above), all=len(shares),
    )  # fmt: skip
    return _result(seen, above, cells, NOT_RECORDED)


def _check_cores(view: View) -> Check:
    shares, above, cells = _core_use(view, cores_in_use, lambda share: share >= MOST_IN_USE)
    seen = message(
        "services and clients together used {most:.0%} of the cores in the median block of the "
        "busiest pair",
        most=max(shares, default=0.0),
    )
    if above:
        seen = message(
            "{seen}, so ratios describe services and clients together, not the services alone",
            seen=seen,
        )
    return _result(seen, above, cells, NOT_RECORDED)


def _check_idle(view: View) -> Check:
    """Check that the services and clients of one runtime were idle while other runtimes were
    measured.
    """
    used, busy = idle_cores(view.run.cells), background(view.run.cells)
    seen = message(
        "each runtime or service used at most {share:.1%} of a core while it was not being "
        "measured",
        share=max(used.values(), default=0.0),
    )
    unknown = message("no runtime or service was idle for 0.5 s or longer in total")
    cells = of_cells(view.run.cells) if used else ""
    return _result(listed(busy, SEMICOLON) or seen, busy, cells, unknown)


def _check_quiet(view: View) -> Check:
    cells, seen = view.run.cells, view.others
    disturbed = otherwise_disturbed(cells)
    if not (disturbed or seen):
        # a run that recorded how quiet the machine was passes; others are unknown
        known = of_cells(cells) if view.machine.quiet is not None else ""
        return _result(
            message("no disturbance was seen in any measurement"), False, known, NOT_RECORDED
        )
    shares = [len(disturbed) / len(cells), *(one.disturbed or 0.0 for one in view.comparisons)]
    is_bad = (disturbed and max(shares) > MOST_DISTURBED) or (seen and seen.is_busy)
    found = [seen.marks] if seen else []
    if disturbed:
        found.append(not_quiet(cells, disturbed))
    return _result(listed(found, SEMICOLON), is_bad, of_cells(disturbed or cells))


def _check_independence(view: View) -> Check:
    """Check that results of blocks (measured rounds) are independent. A few comparisons look
    dependent by chance.
    """
    known = [one for one in view.compared if one.step != "aa" and one.dependence is not None]
    dependent = [one for one in known if depends(one.dependence)]
    cells = together(one.trace for one in dependent or known)
    is_clear = all(independence_is_known(one.dependence, one.blocks) for one in known)
    if not dependent and not is_clear:
        seen = message(
            "no comparison shows that results depend on earlier blocks (measured rounds). With "
            "fewer than {blocks} blocks, this check often misses a ratio that drifts from block to "
            "block, and the interval of such a ratio is too narrow. Effects of the machine that "
            "are equal for both compared runtimes do not change the ratio.",
            blocks=ENOUGH,
        )
        return UNKNOWN, seen, cells
    seen = message(
        "in {count} of {all} comparisons, the results of blocks (measured rounds) seem to depend "
        "on earlier blocks",
        count=len(dependent),
        all=len(known),
    )
    return _result(
        chained([seen, DEPENDENT if dependent else NOTHING]),
        len(dependent) > MOST_DEPENDENT * len(known),
        cells,
        message("there are too few blocks (measured rounds) for this check"),
    )


def _check_warmup(view: View) -> Check:
    # (row, seconds, lost share of answers); both are 0 if throughput was steady
    known = starts(view.rows)
    uneven = [start for start in known if start[1]]
    seen = message("throughput is steady from the start of each measurement")
    if uneven:
        _, seconds, loss = max(uneven, key=lambda start: abs(start[2]))
        seen = message(
            "throughput was not yet steady in the first {seconds:.2f} s, which lowered the number "
            "of answers by {loss:.1%}. This affects {count} of {all} pairs of setting and runtime: "
            "use a longer --warmup",
            seconds=seconds, loss=loss, count=len(uneven), all=len(known),
        )  # fmt: skip
    few = message(
        "there are too few blocks (measured rounds) for this check, or measurements are too short"
    )
    return _result(seen, uneven, of_rows(row for row, *_ in uneven or known), few)


def _check_awake(view: View) -> Check:
    """Check that cores do not sleep during requests. Settings with KEEP_AWAKE or many requests in
    flight are exempt.
    """
    cores = cores_of(view.run, SERVICE, CLIENT)
    asleep = [row for row in view.rows if not row.params.get("KEEP_AWAKE")]
    if view.rows and not asleep:
        return PASSED, message("idle cores were kept awake (KEEP_AWAKE)"), ""
    known = [
        (share, row) for row in asleep if cores and (share := idle_share(row, cores)) is not None
    ]
    slept = [row for share, row in known if share > MOST_ASLEEP]
    seen = message(
        "of the cores for which there was work (one core for each request in flight), at most "
        "{most:.0%} were idle",
        most=max([0.0, *(share for share, _ in known)]),
    )
    if slept:
        names = [
            about(verbatim(row.runtime), view.settings.name(row)) for row in slept[:MOST_NAMED]
        ]
        seen = message(
            "{seen}; wake-up latency affects {rows}: see KEEP_AWAKE",
            seen=seen,
            rows=listed(names, SEMICOLON),
        )
    if asleep and cores and not known:
        enough = message(
            "every measurement has enough requests in flight to keep cores from sleeping"
        )
        return PASSED, enough, of_rows(asleep)
    return _result(seen, slept, of_rows(slept or (row for _, row in known)), NOT_RECORDED)


def _check_noise(view: View) -> Check:
    same = [one for one in view.comparisons if one.step == "aa"]
    known = [one for one in same if one.noise_floor is not None]
    differs = [one for one in known if one.verdict in DIFFERENT]
    cells = together(one.trace for one in differs or known)
    if differs:
        seen = message(
            "{arm} was measured twice, and the two results differ significantly",
            arm=differs[0].denominator,
        )
        return FAILED, seen, cells
    floors = [one.noise_floor or 0.0 for one in known] or [0.0]
    least, most = map(percent, (min(floors), max(floors)))
    seen = message("{least} to {most}", least=least, most=most)
    if least == most:
        seen = verbatim(least)
    blocks = max((one.blocks for one in same), default=0)
    unknown = message("not measured")
    if 0 < blocks < FEWEST_FOR_INTERVAL:
        unknown = message(
            "measured in {blocks} blocks, but an interval needs {fewest}",
            blocks=blocks, fewest=FEWEST_FOR_INTERVAL,
        )  # fmt: skip
    return _result(seen, max(floors) > MOST_NOISE, cells, unknown)


CHECKS = {  # by name, in the order of the page
    message("All planned measurements were made"): _check_cells,
    message("All measurements used the same code and packages"): _check_code,
    message("All requests were answered correctly"): _check_answers,
    message("The state of the GIL matches the runtime's name"): _check_gil,
    message("Each setting was timed for at least 2 s in total under each runtime"): _check_time,
    message("Compared builds have no unintended differences"): _check_builds,
    message("Clients are not the bottleneck"): _check_clients,
    message("Services and clients do not use all cores"): _check_cores,
    message("Cores stay awake while requests are in flight"): _check_awake,
    message("The machine was quiet"): _check_quiet,
    message("Services and clients that are not being measured use no CPU"): _check_idle,
    message("The warm-up was long enough"): _check_warmup,
    message("Blocks (rounds of measurement) are statistically independent"): _check_independence,
    message("The noise floor is low (A/A: the same runtime twice)"): _check_noise,
}
# all checks of a search for the capacity
OF_PROBES = (_check_cells, _check_code, _check_gil, _check_quiet)
