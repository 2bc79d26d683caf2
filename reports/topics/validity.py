"""What the verdicts rest on: checks that the run passed or did not; and what was not measured, with the commands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from core.fingerprint import CODE, ENVIRONMENTS, code_changes, environment_changes
from core.messages import NOTHING, SEMICOLON, Message, listed, message, plural, verbatim
from core.result import NOT_TRIED, CellResult, Run
from core.runtime import NATIVE
from core.system import CLIENT, SERVICE
from reports.document.model import Line, Section, Table, plain_table, words
from reports.facts.cells import Row
from reports.facts.comparisons import confounds_of
from reports.facts.costs import saturation
from reports.facts.gates import (
    MOST_DISTURBED,
    MOST_IN_USE,
    MOST_SATURATION,
    blocks_to_time,
    cores_in_use,
    not_quiet,
    otherwise_disturbed,
)
from reports.facts.hosts import cores_of
from reports.facts.inside import MOST_IDLE, idle_share, known_starts, uneven_starts
from reports.facts.settings import about
from reports.facts.traces import of_cells, of_rows, together
from reports.statistics.significance import DEPENDENT, ENOUGH, depends, independence_is_known
from reports.topics.gaps import elsewhere, missing
from reports.topics.rests_on import floors, range_of, rests_on
from reports.view import View

PLACE = 20
PASSED, LOOK, FAILED, UNKNOWN = "passed", "look", "failed", "unknown"
STATES: Mapping[str, Message] = {
    PASSED: message("✓ passed"),
    LOOK: message("! look"),
    FAILED: message("× failed"),
    UNKNOWN: message("? not known"),
}
NOBODY_SAYS = message("no cell says")
MOST_NOISE = 0.10
MOST_NAMED = 4
MOST_DEPENDENT = 0.20


@dataclass(frozen=True, kw_only=True)
class Check:
    """What came of a check. state: passed, look, failed, or unknown where there was nothing to check.

    cells: the groups of cells that it was seen in
    """

    state: str
    seen: Message
    cells: str = ""


def section(view: View) -> Section:
    """The checks, what the verdicts rest on in words, and the gaps. A terminal shows the noise and what is mixed."""
    return Section(
        key="validity",
        title=message("Validity"),
        tables=(_checks(view),),
        parts=(
            Section(key="rests-on", title=message("What the verdicts rest on"), sentences=tuple(rests_on(view))),
            missing(view),
            elsewhere(view),
        ),
    )


def _checks(view: View) -> Table:
    lines = [_line(what, check(view)) for what, check in CHECKS]
    return plain_table(message("Validity"), (message("Check"), NOTHING, message("Seen")), tuple(lines), kind="checks")


def _line(what: Message, check: Check) -> Line:
    state = words(STATES[check.state], state=f"state {check.state}")
    return words(what), state, words(check.seen, cells=check.cells, leads=bool(check.cells))


# ---- checks --------------------------------------------------------------------------------------------------------


def _measured(view: View) -> Check:
    cells, bad = view.run.cells, view.run.failed_cells
    state = FAILED if bad else PASSED if cells else UNKNOWN
    seen = message("{ok} of {all} ok", ok=len(cells) - len(bad), all=len(cells))
    not_tried = sum(cell.reason.code == NOT_TRIED for cell in bad)
    if not_tried:
        seen = listed([seen, plural("{count} was not tried", "{count} were not tried", count=not_tried)])
    return Check(state=state, seen=seen, cells=of_cells(bad or cells))


def _states(view: View) -> Check:
    """Whether all cells were measured with the same code, and each system's under a runtime in one environment."""
    run, cells = view.run, [cell for cell in view.run.cells if cell.code]
    if not cells:
        return Check(state=UNKNOWN, seen=NOBODY_SAYS)
    unknown = [cell for cell in run.cells if not cell.code and cell.wall_ns]
    first = {(cell.system, cell.runtime): cell for cell in reversed(cells)}
    others = [cell for cell in cells if _state(cell) != (cells[0].code, first[cell.system, cell.runtime].environment)]
    if not others and not unknown:
        return Check(state=PASSED, seen=message("all cells: code {state}", state=cells[0].code), cells=of_cells(cells))
    changes = dict.fromkeys(
        change for cell in others for change in _changes(run, cells[0], first[cell.system, cell.runtime], cell)
    )
    seen = message(
        "{count} of {all} cells with other code, packages or programs: {changes}",
        count=len(others) + len(unknown),
        all=len(run.cells),
        changes=listed(changes or [NOBODY_SAYS], SEMICOLON),
    )
    return Check(state=LOOK, seen=seen, cells=of_cells([*others, *unknown]))


def _state(cell: CellResult) -> tuple[str, str]:
    return cell.code, cell.environment


def _changes(run: Run, start: CellResult, first: CellResult, cell: CellResult) -> list[Message]:
    """What *cell* was measured with that the run's *start*, and the *first* of its system and runtime, were not."""
    code, environments = run.fingerprints.get(CODE, {}), run.fingerprints.get(ENVIRONMENTS, {})
    return [
        *code_changes(code.get(start.code, {}), code.get(cell.code, {})),
        *environment_changes(
            environments.get(first.environment, {}), environments.get(cell.environment, {}), cell.runtime
        ),
    ]


def _answers(view: View) -> Check:
    ok = view.ok_cells
    sent, answered = sum(cell.requests for cell in ok), sum(cell.answered for cell in ok)
    wrong = sum(cell.wrong for cell in view.run.cells)
    seen = message("{answered:,} of {sent:,} answered, {wrong:,} wrong", answered=answered, sent=sent, wrong=wrong)
    state = FAILED if wrong or answered < sent else PASSED if sent else UNKNOWN
    bad = [cell for cell in view.run.cells if cell.wrong or (cell.status == "ok" and cell.answered < cell.requests)]
    return Check(state=state, seen=seen, cells=of_cells(bad or ok))


def _gil(view: View) -> Check:
    interpreted = [cell for cell in view.run.cells if cell.runtime != NATIVE]
    invalid = [cell for cell in interpreted if cell.status == "invalid"]
    reporting = [cell for cell in interpreted if _reports_gil(cell)]
    seen = message(
        "{count} of {all} cells report it, {invalid} invalid",
        count=len(reporting), all=len(interpreted), invalid=len(invalid),
    )  # fmt: skip
    state = FAILED if invalid else PASSED if reporting else UNKNOWN
    return Check(state=state, seen=seen, cells=of_cells(invalid or reporting))


def _reports_gil(cell: CellResult) -> bool:
    return any(process.get("gil_enabled_end") is not None for process in (*cell.services, *cell.clients))


def _window(view: View) -> Check:
    timed = [row for row in _compared_rows(view) if any(cell.clients for cell in row.good)]
    short = [row for row in timed if blocks_to_time(row.good)]
    state = FAILED if short else PASSED if timed else UNKNOWN
    seen = message("{short} of {all} rows are shorter", short=len(short), all=len(timed))
    return Check(state=state, seen=seen, cells=of_rows(short or timed))


def _compared_rows(view: View) -> list[Row]:
    """Those of arms that are compared; all, where nothing is."""
    arms = {arm for comparison in view.comparisons for arm in (comparison.denominator, comparison.numerator)}
    return [row for row in view.rows if not arms or row.runtime in arms]


def _builds(view: View) -> Check:
    compared = [comparison for comparison in view.comparisons if comparison.step != "aa"]
    if confounds := confounds_of(compared):
        return Check(state=LOOK, seen=listed(confounds, SEMICOLON))
    facts = [view.run.runtimes.get(arm, {}) for one in compared for arm in (one.denominator, one.numerator)]
    if not facts:
        return Check(state=UNKNOWN, seen=message("nothing is compared"))
    if not all(known.get("compiler") and known.get("flags") for known in facts):
        return Check(state=UNKNOWN, seen=message("the run does not say how all of them were built"))
    return Check(state=PASSED, seen=message("compilers, flags and versions are the same"))


def _clients(view: View) -> Check:
    """By the row whose clients were busiest."""
    cores = cores_of(view.run, CLIENT)
    used = [(row, [saturation(cell, cores) for cell in row.good]) for row in _compared_rows(view)]
    shares = [(median(known), row) for row, some in used if (known := [share for share in some if share is not None])]
    if not shares:
        return Check(state=UNKNOWN, seen=NOBODY_SAYS)
    most = max(share for share, _ in shares)
    above = [row for share, row in shares if share > MOST_SATURATION]
    seen = message(
        "at most {most:.0%} of the cores they could have had; above {limit:.0%} in {count} of {all} rows",
        most=most, limit=MOST_SATURATION, count=len(above), all=len(shares),
    )  # fmt: skip
    cells = of_rows(above or [row for share, row in shares if share == most])
    return Check(state=LOOK if above else PASSED, seen=seen, cells=cells)


def _spare(view: View) -> Check:
    """By the row that left the fewest cores idle."""
    used = [(share, row) for row in _compared_rows(view) if (share := cores_in_use(row.good, view.run)) is not None]
    if not used:
        return Check(state=UNKNOWN, seen=NOBODY_SAYS)
    most = max(share for share, _ in used)
    above = [row for share, row in used if share >= MOST_IN_USE]
    seen = message("services and clients together used at most {most:.0%} of them", most=most)
    if above:
        seen = message("{seen}: ratios are those of the pair, not of the service alone", seen=seen)
    cells = of_rows(above or [row for share, row in used if share == most])
    return Check(state=LOOK if above else PASSED, seen=seen, cells=cells)


def _quiet(view: View) -> Check:
    cells, seen = view.run.cells, view.others
    disturbed = otherwise_disturbed(cells)
    if disturbed or seen:
        shares = [len(disturbed) / len(cells), *(comparison.disturbed or 0.0 for comparison in view.comparisons)]
        state = LOOK if (disturbed and max(shares) > MOST_DISTURBED) or (seen and seen.is_busy) else PASSED
        words = [*([seen.blocks] if seen else []), *([not_quiet(cells, disturbed)] if disturbed else [])]
        return Check(state=state, seen=listed(words, SEMICOLON), cells=of_cells(disturbed or cells))
    if view.machine.quiet is None or not cells:  # in files from before it was looked at
        return Check(state=UNKNOWN, seen=NOBODY_SAYS)
    return Check(state=PASSED, seen=message("no cell was disturbed"), cells=of_cells(cells))


def _independent(view: View) -> Check:
    """By the comparisons with blocks enough; where there are many, a few look dependent by chance."""
    known = [one for one in view.compared if one.step != "aa" and one.dependence is not None]
    if not known:
        return Check(state=UNKNOWN, seen=message("too few blocks"))
    dependent = [one for one in known if depends(one.dependence)]
    cells = together(map(view.traces.of, dependent or known))
    if not dependent and not all(independence_is_known(one.dependence, one.blocks) for one in known):
        seen = message(
            "none looks dependent, but fewer than {blocks} blocks often do not show a ratio that wanders from block to "
            "block; then intervals are too narrow. What the machine does to both arms is balanced.",
            blocks=ENOUGH,
        )
        return Check(state=UNKNOWN, seen=seen, cells=cells)
    seen = message("{count} of {all} comparisons look as if they were not", count=len(dependent), all=len(known))
    state = LOOK if len(dependent) > MOST_DEPENDENT * len(known) else PASSED
    return Check(state=state, seen=listed([seen, *([DEPENDENT] if dependent else [])], SEMICOLON), cells=cells)


def _steady(view: View) -> Check:
    """By the row whose uneven start cost most."""
    known, uneven = known_starts(view.rows), uneven_starts(view.rows)
    if not known:
        return Check(state=UNKNOWN, seen=message("too few blocks, or too short cells"))
    if not uneven:
        return Check(state=PASSED, seen=message("cells begin as they go on"), cells=of_rows(known))
    most = max(uneven, key=lambda start: abs(start.loss))
    seen = message(
        "the first {seconds:.2f} s cost {loss:.1%} of a cell's answers, in {count} of {all} rows: a longer --warmup",
        seconds=most.seconds, loss=most.loss, count=len(uneven), all=len(known),
    )  # fmt: skip
    return Check(state=LOOK, seen=seen, cells=of_rows([start.row for start in uneven]))


def _awake(view: View) -> Check:
    """Of rows with few requests under way; cores that are held awake are not asked."""
    cores = cores_of(view.run, SERVICE, CLIENT)
    asleep = [row for row in view.rows if not row.params.get("KEEP_AWAKE")]
    if view.rows and not asleep:
        return Check(state=PASSED, seen=message("cores were held awake"))
    known = [(row, share) for row in asleep if cores and (share := idle_share(row, cores)) is not None]
    if not known:
        return Check(state=UNKNOWN, seen=message("no row has as few requests under way as there are cores"))
    slept = [row for row, share in known if share > MOST_IDLE]
    most = max(share for _, share in known)
    seen = message("idle for at most {most:.0%} of what the requests could have used", most=max(0.0, most))
    if slept:
        names = [about(verbatim(row.runtime), view.settings.name(row.system, row.params)) for row in slept[:MOST_NAMED]]
        seen = message("{seen}; waking up counts in {rows}: see KEEP_AWAKE", seen=seen, rows=listed(names, SEMICOLON))
    return Check(state=LOOK if slept else PASSED, seen=seen, cells=of_rows(slept or [row for row, _ in known]))


def _noise(view: View) -> Check:
    known = floors(view)
    if not known:
        return Check(state=UNKNOWN, seen=message("not measured"))
    same = [one for one in view.comparisons if one.step == "aa" and one.noise_floor is not None]
    differs = [one for one in same if one.verdict in ("faster", "slower")]
    cells = together(map(view.traces.of, differs or same))
    if differs:
        return Check(state=FAILED, seen=message("{arm} differs from itself", arm=differs[0].denominator), cells=cells)
    return Check(state=PASSED if max(known) <= MOST_NOISE else LOOK, seen=range_of(known), cells=cells)


CHECKS: tuple[tuple[Message, Callable[[View], Check]], ...] = (
    (message("Cells measured"), _measured),
    (message("Code and packages are the same"), _states),
    (message("Answers"), _answers),
    (message("GIL as the runtime's name says"), _gil),
    (message("Timed for at least 2 s in all blocks"), _window),
    (message("Builds differ only in the step"), _builds),
    (message("Clients are not the bottleneck"), _clients),
    (message("Cores to spare"), _spare),
    (message("Cores awake while a request was under way"), _awake),
    (message("The machine was quiet"), _quiet),
    (message("The warm-up was long enough"), _steady),
    (message("Blocks are independent"), _independent),
    (message("Noise floor (A/A)"), _noise),
)
