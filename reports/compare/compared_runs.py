"""Compare the measurements of saved runs with those of the first, A: which run is faster, with a
forest plot.

commands/compare.py calls compare_runs(), shows its result with document(), and takes the exit
status from ComparedCell.outcome. The blocks of two runs are not paired, unlike those of the arms of
one run. A ratio is the time of A divided by that of the other run: above 1, the other is faster.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import median
from typing import Literal, NamedTuple

from analysis.cell_index import Row, grouped, groups
from analysis.comparison_words import Comparison
from analysis.decisions import regressions
from analysis.formats import thousandths
from analysis.gates import LEAST_TIMED_NS, blocks_to_time
from analysis.judging import MARGIN, judge_runs
from analysis.others import others
from analysis.pair_verdicts import robust
from analysis.pairs import ByBlock, Cells, free_times_ns, times_ns
from analysis.stats import FEWEST_FOR_INTERVAL
from core.languages import ENGLISH
from core.messages import (
    AND,
    NOTHING,
    SEMICOLON,
    BadInput,
    Json,
    Message,
    chained,
    listed,
    message,
    plural,
    verbatim,
)
from record.comparison import Verdict
from record.run_file import plain
from record.saved_run import CellResult
from reports.compare import (
    LEAST,
    NONE,
    Member,
    differences,
    obstacles,
    runs_section,
)
from reports.document import ABSENT, Document, Section, Table, number
from reports.parts.comparison_table import forest
from reports.tables import Col, col

TITLE = message("Comparison")
OTHER = message("the other run")
PER_REQUEST = message("Time per request: wall time divided by the number of requests.")
SHOWN_CELLS = 8  # rows of each run that the error on runs without a common cell names
UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0))  # sizes in ns, largest first
# as ComparedCell explains it
Outcome = Literal["passed", "slower", "open"]


class RowPair(NamedTuple):
    """A measured setting and runtime in run A, and in another run.

    rows: the rows of the two runs, which have the same system, parameters and runtime
    runs: the two runs
    """

    rows: tuple[Row, Row]
    runs: tuple[Member, Member]

    @property
    def good(self) -> list[CellResult]:
        """Return the measurements of both runs that are ok."""
        return [*self.rows[0].good, *self.rows[1].good]

    def blocks_ns(self, times: Callable[[Cells], ByBlock]) -> tuple[list[float], list[float]]:
        """Return the times of all blocks of the two runs: A's, then the other's.

        times: returns the time per request of cells in ns, by block
        """
        first, second = self.rows
        a = times({cell.block: cell for cell in first.good})
        b = times({cell.block: cell for cell in second.good})
        return [*a.values()], [*b.values()]

    @property
    def letter(self) -> str:
        """Return the letter of the run that is compared with A."""
        return self.runs[1].letter


class ComparedCell(NamedTuple):
    """The comparison of a measurement (cell) of two runs. If the ratio of times is above 1, the run
    is faster than A.

    pair:     the cell in A and in the other run
    outcome:  passed, slower or open by the threshold; every cell passes if there is no threshold
    open_why: why the cell can neither pass nor fail; empty if it can
    """

    pair: RowPair
    name: Message
    comparison: Comparison
    outcome: Outcome
    open_why: Message

    @property
    def medians_ns(self) -> list[float | None]:
        """The median time per request in ns, of each of the two runs; None for a run without a
        valid block.
        """
        return [*map(_median, self.pair.blocks_ns(times_ns))]

    def to_json(self) -> Json:
        """Return the comparison in the form of result.json, with the name of the measured runtime.

        The key `arm` has the name under which the runtime or service is compared.
        """
        row = self.pair.rows[0]
        arm = {"runtime": row.cells[0].runtime, "arm": row.runtime}
        return {**plain(self.comparison), **arm}


class Compared(NamedTuple):
    """The comparison of saved runs with the first, A: every measurement that a run shares with A,
    in A's order.

    troubles: cells that were not used, and differences that --anyway overruled
    notes:    how to read the comparison
    """

    runs: Sequence[Member]
    cells: Sequence[ComparedCell]
    troubles: Sequence[Message]
    notes: Sequence[Message]


def compare_runs(
    runs: Sequence[Member], *, anyway: bool = False, share: float | None = None
) -> Compared:
    """Compare every measurement (cell) that a run shares with the first run, A, which is the
    baseline.

    anyway: compare runs of different machines and methods, too
    share:  the threshold, 0.05 for 5 %. A cell fails if a run takes more additional time than this.
            It also limits which differences are equivalent
    Raises BadInput if the runs must not be compared, or if a run has no cell in common with A.
    """
    base, *others = runs
    against = obstacles(runs)
    if against and not anyway:
        raise BadInput(
            "{runs} were measured under different conditions: {obstacles}. Use --anyway to compare "
            "them.",
            runs=listed((f"{run.title} ({run.letter})" for run in runs), last=AND),
            obstacles=listed(against, SEMICOLON),
        )
    pairs = []
    for other in others:
        shared = _pairs(base, other)
        if not shared:
            raise BadInput(_nothing_in_common(base, other))
        pairs += shared
    cells = _judged(pairs, share)
    overruled = [
        message("The runs are compared only because of --anyway: {obstacle}.", obstacle=obstacle)
        for obstacle in against
    ]
    # by identity: Member.timed is cached, so _unused() sees the same objects
    used = {id(row) for pair in pairs for row in pair.rows}
    unused = [line for run in runs for line in _unused(run, used)]
    label = message("Permitted differences between the runs")
    differing = [
        message("{label}: {values}", label=label, values=line) for line in differences(runs)
    ]
    notes = [*differing, *_readings(runs, cells)]
    return Compared(runs, cells, troubles=[*overruled, *unused], notes=notes)


def _pairs(a: Member, b: Member) -> list[RowPair]:
    """Return pairs of table rows of two runs with the same system, parameters and runtime, in the
    order of run *a*.
    """
    of_b = {(row.key, row.runtime): row for row in b.timed}
    shared = [row for row in a.timed if (row.key, row.runtime) in of_b]
    return [RowPair((row, of_b[row.key, row.runtime]), (a, b)) for row in shared]


def _judged(pairs: Sequence[RowPair], share: float | None) -> list[ComparedCell]:
    """Return a comparison for each pair of cells: its verdict, and whether it passes the threshold
    *share*.

    All pairs must be judged in one call, because p is adjusted for their number.
    share: as compare_runs() takes it
    """
    times = {place: pair.blocks_ns(times_ns) for place, pair in enumerate(pairs)}
    gates = {place: _in_runs(pair, map(_obstacle, pair.rows)) for place, pair in enumerate(pairs)}
    margin = MARGIN if share is None else min(MARGIN, share)
    verdicts = judge_runs(times, margin=margin, gates=gates)
    # the verdicts without the load of other processes; robust() withdraws those that change
    lasting = verdicts
    if any(seen.marked for pair in pairs if (seen := others(pair.good))):
        free = {place: pair.blocks_ns(free_times_ns) for place, pair in enumerate(pairs)}
        lasting = judge_runs(free, margin=margin, gates=gates)
    cells = []
    for place, pair in enumerate(pairs):
        a, b = pair.rows
        verdict = robust(verdicts[place], lasting[place], pair.good)
        comparison = _comparison(pair, verdict, min(map(len, times[place])))
        slower, unclear = regressions([comparison], share or 0.0)
        open_why = (
            gates[place]
            # failed blocks of the other run leave its result open; those of A do not
            or _in_runs(pair, [NOTHING, b.trouble])
            or (verdict.why if unclear else NOTHING)
        )
        outcome: Outcome = "passed"
        if share is not None:
            outcome = "slower" if slower else "open" if open_why else "passed"
        name = _cell_names([a], pair.runs[0].settings.where)
        cells.append(ComparedCell(pair, name, comparison, outcome, open_why))
    return cells


def _comparison(pair: RowPair, verdict: Verdict, blocks: int) -> Comparison:
    """Return the comparison of a pair, which has a *verdict* from so many blocks of each run."""
    (a, b), (base, other), seen = *pair, others(pair.good)
    return Comparison(
        **vars(verdict),
        system=a.system,
        params=dict(a.params),
        denominator=base.title,
        numerator=other.title,
        step="other",
        blocks=blocks,
        others=seen.share if seen else None,
        # True, because the arms are titles of runs, which must not be read as names of runtimes
        between_services=True,
        trace=f"{base.cells(a.trace)} {other.cells(b.trace)}",
    )


def _median(times_ns: Sequence[float]) -> float | None:
    return median(times_ns) if times_ns else None


def _in_runs(pair: RowPair, said: Iterable[Message]) -> Message:
    """Join what is *said* about each of the two runs: 'in run A, it failed; in run B,
    it failed'.
    """
    runs = [run.letter for run in pair.runs]
    return chained(
        message("in run {run}, {what}", run=run, what=what)
        for run, what in zip(runs, said, strict=True)
        if what
    )


def _obstacle(row: Row) -> Message:
    """Return the reason why *row* allows no verdict; NOTHING if it allows a verdict."""
    if not row.good:
        return row.trouble
    if not (blocks := blocks_to_time(row.good)):
        return NOTHING
    return message(
        "the measured time is less than {least_s:g} s in total (use --blocks {blocks}, or a longer "
        "--duration)",
        least_s=LEAST_TIMED_NS / 1e9, blocks=blocks,
    )  # fmt: skip


def _cell_names(rows: Iterable[Row], name: Callable[[Row], Message]) -> Message:
    """Return the settings of table rows with their runtimes, such as 'System 4, NUM_MULTI_SOCKET 5
    (3.11, 3.14t)'.
    """
    cells = []
    for alike in groups(rows):
        cell, arms = name(alike[0]), ", ".join(row.runtime for row in alike)
        cells.append(message("{name} ({arms})", name=cell, arms=arms))
    return listed(cells, SEMICOLON)


def _nothing_in_common(a: Member, b: Member) -> Message:
    """Return the error for two runs that have no measurement in common: some of what they have, and
    what to do.
    """
    in_a, in_b = (
        _cell_names(run.timed[:SHOWN_CELLS], run.settings.where) or NONE for run in (a, b)
    )
    return message(
        "{a} and {b} have no measurement in common. In {first}: {in_a}. In {second}: {in_b}. "
        "Measure the same settings in both runs.",
        a=f"{a.title} ({a.letter})", b=f"{b.title} ({b.letter})",
        first=a.letter, second=b.letter, in_a=in_a, in_b=in_b,
    )  # fmt: skip


def _unused(run: Member, used: Container[int]) -> Iterator[Message]:
    """Yield sentences on the measurements that only *run* has, and on those that failed or are
    damaged.

    used: the ids of the rows that were compared
    """
    name = run.settings.where
    if alone := _cell_names([row for row in run.timed if id(row) not in used], name):
        yield message(
            "Only run {run} has these measurements, so they are not compared: {cells}.",
            run=run.letter,
            cells=alone,
        )
    failed = [row for row in run.timed if row.trouble]
    troubles = [
        message("{cell}: {trouble}", cell=_cell_names([row], name), trouble=row.trouble)
        for row in failed
    ]
    for what in (*troubles, *run.view.run.damaged):
        yield message("This result of run {run} is not used: {what}.", run=run.letter, what=what)


def _readings(runs: Sequence[Member], cells: Sequence[ComparedCell]) -> list[Message]:
    """Return sentences that explain the comparison: the times, and the direction of the ratio."""
    other = verbatim(runs[1].letter) if len(runs) == LEAST else OTHER
    ratio = message(
        "Ratio: time of A / time of {other}, with its 95 % interval if both runs have at least "
        "{fewest} blocks. Above 1, {other} is faster. Below 1, {other} is slower.",
        fewest=FEWEST_FOR_INTERVAL, other=other,
    )  # fmt: skip
    judged = sum(one.comparison.verdict != "invalid" for one in cells)
    medians = message("Each time is the median of the run's blocks.")
    adjusted = plural(
        "p is adjusted for {count} comparison.",
        "p is adjusted for {count} comparisons.",
        count=judged,
    )
    return [PER_REQUEST, medians, ratio, *[adjusted] * (judged > 1)]


# ---- what it looks like --------------------------------------------------------------------------


def time_text(time_ns: float | None) -> str:
    """Return a time with four digits and a unit, such as '1.600 s' or '84.21 us'; '-' for None."""
    if time_ns is None:
        return ABSENT
    unit, size = next((unit for unit in UNITS if time_ns >= unit[1]), UNITS[-1])
    return f"{f'{time_ns / size:#.4g}'.rstrip('.')} {unit}"


def sentence(one: ComparedCell) -> Message:
    """Return a sentence on a compared measurement: its verdict, its median times in both runs, and
    the reason.
    """
    seen, times = one.comparison, " -> ".join(map(time_text, one.medians_ns))
    if one.outcome == "open":
        return message(
            "it is undecided whether run {run} is slower than allowed (median times: {times}): "
            "{why}.",
            run=one.pair.letter,
            times=times,
            why=one.open_why,
        )
    ratio = number(seen.ratio, thousandths, low=seen.low, high=seen.high).text(ENGLISH)
    return message(
        "verdict on run {run}: {word}; median times: {times}, ratio {ratio}; {why}.",
        run=one.pair.letter,
        word=seen.word,
        times=times,
        ratio=ratio,
        why=seen.why,
    )


def document(compared: Compared) -> Document:
    """Return the report of a comparison: the two runs, and every measurement that both have."""
    about = [
        message("{letter}: {name}", letter=run.letter, name=run.title) for run in compared.runs
    ]
    seen = [one.comparison for one in compared.cells]
    whys = dict.fromkeys(one.why for one in seen if one.verdict in ("inconclusive", "invalid"))
    table, notes = _table(compared), (*compared.troubles, *compared.notes)
    # on the terminal, sentences below the table have the reasons of its last column
    brief = replace(table, columns=table.columns[:-1], caption=NOTHING)
    without = (message("No verdict: {why}.", why=why) for why in whys)
    section = Section(
        "comparison",
        TITLE,
        sentences=notes,
        tables=(table,),
        terminal=(*about, brief, *without, *notes),
    )
    sections = (section, runs_section(compared.runs))
    return Document(name=str(TITLE), title=TITLE, about=about, sections=sections, has_cells=False)


def _table(compared: Compared) -> Table:
    """Return a table with one line per compared measurement, by setting. The last column explains
    the verdict.
    """
    base, *others = compared.runs

    def times_col(side: int, head: Message) -> Col[ComparedCell]:
        def cells(one: ComparedCell) -> str:
            return one.pair.runs[side].cells(one.pair.rows[side].trace)

        return col(head, lambda one: one.medians_ns[side], time_text, trace=cells)

    before: list[Col[ComparedCell]] = [col("Runtime", lambda one: one.pair.rows[0].runtime)]
    head = verbatim(others[0].letter)
    if len(others) > 1:
        before.insert(0, col("Run", "pair.letter"))
        head = OTHER
    return forest(
        TITLE,
        grouped(compared.cells, lambda one: base.settings.name(one.comparison)).items(),
        attrgetter("comparison"),
        [*before, times_col(0, verbatim(base.letter)), times_col(1, head)],
        [
            col("p", "comparison.p", "{:.2g}".format, rank=1),
            col("Why", "comparison.why"),
        ],
    )
