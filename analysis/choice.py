"""The best of several settings under each runtime: some measurements choose it, and others judge
it.

The candidates are halved until one is left. A setting can be chosen by luck alone, so
the measurements that choose a setting never judge it. In a run of blocks, even-numbered blocks
choose and odd-numbered blocks judge. A search for the capacity chooses with probes of their own
(analysis/capacity_search.py).

A candidate is one setting under one runtime (analysis/cell_index.py: Row). Candidates compete if
they have the same work: the parameters that say what clients ask for. lab/run/experiment.py asks
between blocks which settings to drop, and reports/ shows the choices.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from statistics import median
from typing import Generic, TypeVar

from analysis.cell_index import Cells as CellIndex
from analysis.cell_index import Row, grouped, is_open, runtimes
from analysis.comparing import compared_pairs
from analysis.comparison_words import Comparison
from analysis.gates import checked_ratio, failed_gate
from analysis.pairs import Pair, pairs, times_ns
from analysis.settings import SHAPE, varying
from analysis.significance import SHARES
from analysis.stats import FEWEST_FOR_RANGE, Estimate
from analysis.steps import steps_to_the_last
from core.cell import knobs_in
from core.messages import Message
from core.runtime import NATIVE, RuntimeName
from core.user_service import VARIANT
from record.comparison import BEST, Key, Setting
from record.saved_run import CellResult, Run

# the parameters that are the work of gilscope's own systems
WORK = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_THREADS_PER_CLIENT", "CALC_TARGET", "PAYLOAD_BYTES")
FEWEST_BLOCKS = 2 * FEWEST_FOR_RANGE - 1  # so that enough odd-numbered blocks judge
ROUND_BLOCKS = 2  # choosing blocks of each round; two, because one may be disturbed
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Choice(Generic[Item]):
    """The candidates for the best setting under one runtime.

    left:    the candidates that are left, the best first; only one when the choice has ended
    dropped: the candidates that were dropped, the better first
    failed:  candidates that cannot be chosen, because a measurement that chooses them failed
    rounds:  how many times the candidates were halved
    """

    left: Sequence[Item]
    dropped: Sequence[Item] = ()
    failed: Sequence[Item] = ()
    rounds: int = 0

    @property
    def best(self) -> Item | None:
        """The best candidate; None as long as several candidates are left."""
        return self.left[0] if len(self.left) == 1 else None

    @property
    def second(self) -> Item | None:
        """The candidate that was dropped last; None if none was dropped."""
        return self.dropped[0] if self.dropped else None

    @property
    def candidates(self) -> list[Item]:
        """All candidates."""
        return [*self.left, *self.dropped, *self.failed]


Choices = Mapping[str, Mapping[str, Choice[Row]]]  # by work (its parameters as JSON) and runtime


def halved(
    candidates: Sequence[Item],
    cost: Callable[[Item, int], float | None],
    failed: Sequence[Item] = (),
) -> Choice[Item]:
    """Return the choice among *candidates*: each round drops the half with the higher costs.

    cost: returns the cost of a candidate in a round, which counts from 1; None while the round has
        not ended
    """
    left, dropped, rounds = [*candidates], list[Item](), 0
    while len(left) > 1:
        costs = [(known, one) for one in left if (known := cost(one, rounds + 1)) is not None]
        if len(costs) < len(left):
            break
        ranked = [one for _, one in sorted(costs, key=itemgetter(0))]
        half = (len(ranked) + 1) // 2
        left, dropped, rounds = ranked[:half], [*ranked[half:], *dropped], rounds + 1
    return Choice(left=left, dropped=dropped, failed=failed, rounds=rounds)


def dropped_settings(run: Run) -> set[Key]:
    """Return the settings that need not be measured any more: they were dropped under each runtime,
    in a run that halves the candidates (--budget).
    """
    if not run.plan.halves_settings:
        return set()
    every = _every_choice(run, CellIndex(run).rows)
    made = [choice for same in every.values() for choice in same.values()]
    left = {row.key for choice in made for row in choice.left}
    return {row.key for choice in made for row in choice.candidates} - left


def choices(run: Run, rows: Sequence[Row]) -> Choices:
    """Return the choice of the best setting under each runtime, for each workload that several
    settings serve.

    Settings of several systems compete with each other if the same clients can call all of these
    systems, because they use gilscope's frame protocol. The result is empty if fewer than
    FEWEST_BLOCKS blocks were measured.
    """
    found: dict[str, Mapping[str, Choice[Row]]] = {}
    if max((cell.block for cell in run.cells), default=0) < FEWEST_BLOCKS:
        return found
    for work, same in _every_choice(run, rows).items():
        ended = {
            runtime: choice for runtime, choice in same.items() if choice.best or choice.failed
        }
        if ended:
            found[work] = ended
    return found


def _every_choice(run: Run, rows: Sequence[Row]) -> Choices:
    is_own, framed, arms = bool(run.plan.own), run.plan.framed, {*runtimes(run)} - {NATIVE}
    candidates = [
        row
        for row in rows
        if (is_own or row.system in framed) and row.runtime in arms
        if row.params.get("NUM_CLIENTS") and not is_open(row.params)
    ]
    # the names of the parameters that are chosen, which are therefore no part of the work
    chosen = (
        {*SHAPE} if is_own or {*SHAPE} <= {*varying(candidates)} else set[str]()
    )  # topologies are compared
    # variants are compared as values (record/comparison.py: VALUE), so they do not compete
    chosen |= {name for row in candidates for name in knobs_in(row.params)} - {VARIANT}

    def key(row: Row) -> tuple[str, str]:
        names = row.params if is_own else WORK
        work = {
            name: row.params[name] for name in names if name in row.params and name not in chosen
        }
        return json.dumps(work), row.runtime

    found: dict[str, dict[str, Choice[Row]]] = {}
    for (work, runtime), same in grouped(candidates, key).items():
        if len(same) > 1:
            found.setdefault(work, {})[runtime] = _choice(same, run)
    return found


def _choice(rows: Sequence[Row], run: Run) -> Choice[Row]:
    """Return the choice among the settings of one runtime: the least time per request in choosing
    blocks wins. If the run halves the candidates, each round has ROUND_BLOCKS more of them.
    """
    measured = [row for row in rows if _cost_ns(row) < inf]
    failed = [row for row in rows if why_failed(row)]
    if not run.plan.halves_settings:
        return halved(measured, lambda row, _: _cost_ns(row), failed)

    def cost(row: Row, round_: int) -> float | None:
        blocks = ROUND_BLOCKS * round_
        # after the end of the run, a round ends with the blocks that there are
        has_ended = len(choosing(row)) >= blocks or run.finished_at
        return _cost_ns(row, blocks) if has_ended else None

    return halved(measured, cost, failed)


def _cost_ns(row: Row, blocks: int | None = None) -> float:
    """Return the median time per request in the choosing blocks, in ns; infinite if one of them has
    no such time.

    blocks: only so many of the first choosing blocks count
    """
    cells = dict(sorted(choosing(row).items())[:blocks])
    times = times_ns(cells)
    return median(times.values()) if times and len(times) == len(cells) else inf


def choosing(row: Row) -> dict[int, CellResult]:
    """Return the measurements of a candidate that choose, by block."""
    return {cell.block: cell for cell in row.cells if not cell.block % 2}


def judging(row: Row) -> dict[int, CellResult]:
    """Return the measurements of a candidate that judge, by block."""
    return {cell.block: cell for cell in row.cells if cell.block % 2}


def why_failed(row: Row) -> Message:
    """Return why a candidate cannot be chosen: a measurement that chooses it failed. Return NOTHING
    if none did.
    """
    return failed_gate([*choosing(row).values()])


def judged_ratio(base: Row, row: Row, doubt: Message) -> Estimate | Message:
    """Return the throughput of *row* divided by that of *base* in the judging blocks, or why it is
    not known.

    doubt: as in checked_ratio()
    """
    return checked_ratio([*judging(base).values()], [*judging(row).values()], doubt)


def may_be_chance(ratio: Estimate) -> bool:
    """Return whether chance may explain that a ratio is not 1."""
    return ratio.is_range or ratio.low <= 1 <= ratio.high


def compare_bests(run: Run, chosen: Choices) -> list[Comparison]:
    """Compare each runtime's best setting with that of the runtime that is last in comparison
    order, for each workload.

    The p values are adjusted for these comparisons only.
    """
    # A/A is among the pairs because it makes all others invalid if it differs
    made = [pair for pair in pairs(run) if pair.step.name == "aa"] if chosen else []
    for work, same in chosen.items():
        best = {name: row for name in runtimes(run) if name in same and (row := same[name].best)}
        for step in steps_to_the_last([*best], run.runtimes) if best else ():
            below, above = (best[RuntimeName(arm)] for arm in step.arms)
            made.append(
                Pair(
                    setting=Setting(system=BEST, params=json.loads(work)),
                    step=step,
                    arms=(judging(below), judging(above)),
                    sides=(Setting.of_key(below.key), Setting.of_key(above.key)),
                )
            )
    return [one for one in compared_pairs(run, made, SHARES["best"]) if one.step == "best"]
