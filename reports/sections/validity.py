"""What the verdicts rest on: checks that the run passed or did not; and what was not measured, with the commands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from core.messages import NOTHING, SEMICOLON, Message, listed, message, plural, verbatim
from core.method import SAME
from core.result import CellResult
from core.runtime import NATIVE
from reports.document.model import Line, Section, Table, plain_table, traced, words
from reports.document.values import percent
from reports.rows.costs import saturation
from reports.rows.gates import MOST_DISTURBED, MOST_SATURATION, SHORTEST_WINDOW_NS, not_quiet
from reports.rows.steps import not_separated, steps
from reports.rows.summary import Row, runtimes
from reports.rows.traces import of_cells, of_rows, together
from reports.sections.gaps import elsewhere, missing
from reports.statistics.evidence import MOST_MARGIN
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


@dataclass(frozen=True, kw_only=True)
class Check:
    """What came of a check. state: passed, look, failed, or unknown where there was nothing to check.

    cells: the groups of cells that it was seen in
    """

    state: str
    seen: Message
    cells: str = ""


def section(view: View) -> Section:
    """The checks, what the verdicts rest on in words, and the gaps. A terminal shows what cannot be told apart."""
    return Section(
        key="validity",
        title=message("Validity"),
        tables=(_checks(view),),
        parts=(
            Section(key="rests-on", title=message("What the verdicts rest on"), sentences=tuple(_rests_on(view))),
            missing(view),
            elsewhere(view),
        ),
        terminal=() if view.plan.view else tuple(_mixed(view)),
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
    return Check(state=state, seen=seen, cells=of_cells(bad or cells))


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
    short = [row for row in timed if median(cell.wall_ns for cell in row.good) < SHORTEST_WINDOW_NS]
    state = FAILED if short else PASSED if timed else UNKNOWN
    seen = message("{short} of {all} rows are shorter", short=len(short), all=len(timed))
    return Check(state=state, seen=seen, cells=of_rows(short or timed))


def _compared_rows(view: View) -> list[Row]:
    """Those of arms that are compared; all, where nothing is."""
    arms = {arm for comparison in view.comparisons for arm in (comparison.denominator, comparison.numerator)}
    return [row for row in view.rows if not arms or row.runtime in arms]


def _builds(view: View) -> Check:
    compared = [comparison for comparison in view.comparisons if comparison.step != "aa"]
    confounds = dict.fromkeys(confound for comparison in compared for confound in comparison.confounds)
    if confounds:
        return Check(state=LOOK, seen=listed(confounds, SEMICOLON))
    facts = [view.run.runtimes.get(arm, {}) for one in compared for arm in (one.denominator, one.numerator)]
    if not facts:
        return Check(state=UNKNOWN, seen=message("nothing is compared"))
    if not all(known.get("compiler") and known.get("flags") for known in facts):
        return Check(state=UNKNOWN, seen=message("the run does not say how all of them were built"))
    return Check(state=PASSED, seen=message("compilers, flags and versions are the same"))


def _clients(view: View) -> Check:
    """By the row whose clients were busiest."""
    pinned = len(view.plan.method.pin_clients)
    used = [(row, [saturation(cell, view.run.machine, pinned) for cell in row.good]) for row in _compared_rows(view)]
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


def _quiet(view: View) -> Check:
    cells = view.run.cells
    disturbed = [cell for cell in cells if cell.disturbances]
    if disturbed:
        shares = [len(disturbed) / len(cells), *(comparison.disturbed or 0.0 for comparison in view.comparisons)]
        state = LOOK if max(shares) > MOST_DISTURBED else PASSED
        return Check(state=state, seen=not_quiet(cells, disturbed), cells=of_cells(disturbed))
    if view.machine.quiet is None or not cells:  # in files from before it was looked at
        return Check(state=UNKNOWN, seen=NOBODY_SAYS)
    return Check(state=PASSED, seen=message("no cell was disturbed"), cells=of_cells(cells))


def _noise(view: View) -> Check:
    floors = _floors(view)
    if not floors:
        return Check(state=UNKNOWN, seen=message("not measured"))
    same = [one for one in view.comparisons if one.step == "aa" and one.noise_floor is not None]
    state = PASSED if max(floors) <= MOST_MARGIN else LOOK
    return Check(state=state, seen=_range(floors), cells=together(map(view.traces.of, same)))


def _floors(view: View) -> list[float]:
    """The noise floor of each setting that has one."""
    same = [comparison for comparison in view.comparisons if comparison.step == "aa"]
    return [comparison.noise_floor for comparison in same if comparison.noise_floor is not None]


def _range(shares: Sequence[float]) -> Message:
    least, most = percent(min(shares)), percent(max(shares))
    return verbatim(least) if least == most else message("{least} to {most}", least=least, most=most)


CHECKS: tuple[tuple[Message, Callable[[View], Check]], ...] = (
    (message("Cells measured"), _measured),
    (message("Answers"), _answers),
    (message("GIL as the runtime's name says"), _gil),
    (message("Timed for at least 1 s"), _window),
    (message("Builds differ only in the step"), _builds),
    (message("Clients are not the bottleneck"), _clients),
    (message("The machine was quiet"), _quiet),
    (message("Noise floor (A/A)"), _noise),
)


# ---- what the verdicts rest on -------------------------------------------------------------------------------------


def _rests_on(view: View) -> list[Message]:
    """Blocks, order, the noise floor, the client, and what cannot be told apart; each with all cells."""
    cells = of_cells(view.run.cells)
    blocks = plural("{count} block", "{count} blocks", count=len({cell.block for cell in view.run.cells}))
    order = message("{blocks}, cells in random order (seed {seed}).", blocks=blocks, seed=view.run.seed)
    return [traced(line, cells) for line in (order, *_noise_words(view), _client_words(view), *_mixed(view))]


def _noise_words(view: View) -> list[Message]:
    floors = _floors(view)
    if floors:
        return [message("Noise floor (the same runtime twice): {floor}.", floor=_range(floors))]
    if any(comparison.step == "aa" for comparison in view.comparisons):
        return []
    return [message("No A/A arm was measured, so the noise floor is not known: add --aa.")]


def _client_words(view: View) -> Message:
    client = view.plan.method.client_runtime
    if client == SAME:
        return message("Clients run under the service's runtime, so both sides change: --client-runtime holds them.")
    return message("Clients run under {runtime} in every cell: only the service changes.", runtime=client)


def _mixed(view: View) -> list[Message]:
    return not_separated(steps(runtimes(view.run), {}))
