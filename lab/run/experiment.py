"""Measure every block of a plan, cell by cell, and save the run after each cell."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter_ns
from typing import Protocol

from config.plan import Entry, Plan
from core.cell import Cell
from core.errors import BadInput
from core.fingerprint import CODE, code_changes
from core.messages import Message, listed, message
from core.method import Method
from core.program import PROGRAM
from core.result import NOT_TRIED, CellResult, Run, RunFile
from lab.folders import Sandbox
from lab.run.beside import Standing
from lab.run.cell_run import NOT_READY, Bench
from lab.run.fingerprints import Fingerprint, Fingerprinter
from lab.run.measure import NotEnoughMemory, measure, measure_in_slices
from lab.run.profiling import profiles
from lab.run.runs import Order, note_time

MOST_STARTS = 2

Enough = Callable[[Run, int], bool]


class Progress(Protocol):
    """A display of a run's progress, which counts its finished measurements (cells)."""

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Show that *cell* is being measured. *done* of *total* cells are finished."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Show that the measurement of a cell is finished. *done* counts this cell, too."""


class RunInProgress:
    """A run in progress. Each result is saved, with its fingerprints, before the next measurement starts.

    Raises BesideFailed if a program beside the services ends; cells that this may have spoilt are measured again.
    """

    def __init__(
        self,
        order: Order,
        run: Run,
        sandbox: Sandbox,
        progress: Progress,
        beside: Standing = Standing(),  # noqa: B008 - frozen
    ) -> None:
        self.order, self.run, self.progress = order, run, progress
        self.bench = Bench(
            sandbox=sandbox, runtimes=order.runtimes, method=order.plan.method, places=order.places, beside=beside
        )
        self._started_ns = perf_counter_ns()
        self._fingerprints = Fingerprinter(order.plan, order.runtimes, run.fingerprints)
        self._file = RunFile(order.folder)
        self._file.save(run)

    @property
    def spent_ns(self) -> int:
        """Return the time in ns since this process started or resumed the run."""
        return perf_counter_ns() - self._started_ns

    def measure(self, entries: Sequence[Entry], measured: Callable[[Bench], list[CellResult]]) -> list[CellResult]:
        """Make the measurements *entries* by calling *measured*. Add fingerprints of code and environment to them.

        A result is invalid if its fingerprint changed during the measurement.
        """
        before = [self._fingerprints.of(entry.cell, entry.system) for entry in entries]
        results = measured(self.bench)
        self.bench.beside.expect_alive(
            message(
                "during the run. All finished measurements are saved. Continue with: {program} --resume {folder}",
                program=PROGRAM,
                folder=str(self.order.folder),
            )
        )
        return [self._with_fingerprint(*one) for one in zip(entries, before, results, strict=True)]

    def _with_fingerprint(self, entry: Entry, earlier: Fingerprint, result: CellResult) -> CellResult:
        later = self._fingerprints.of(entry.cell, entry.system)
        known = replace(result, code=earlier.code, environment=earlier.environment)
        if earlier != later and result.status == "ok":
            known = replace(known, status="invalid", reason=_changed_meanwhile(earlier, later, self.run))
        return known

    def measure_one_by_one(self, reason: Message) -> None:
        """Measure the arms (the compared runtimes or services) one after another from now on."""
        self.bench = replace(self.bench, method=replace(self.bench.method, slices=False))
        self.run.plan |= {"method": self.bench.method.to_json(), "arm_order_reason": reason.to_json()}

    def keep(self, result: CellResult, total: int) -> None:
        """Add a result to the run and save the run.

        total: the number of cells that the display shows
        """
        self.run.cells.append(result)
        self._file.save(self.run)
        self.progress.cell_ended(result, len(self.run.cells), total)

    def finish(self) -> None:
        """Save the time at which the run ended, and the time that its cells took."""
        self.run.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
        note_time(self.order.folder, self.run, "cells", self.spent_ns)


def carry_out(under_way: RunInProgress, enough: Enough = lambda run, spent_ns: False) -> None:
    """Measure every cell of the plan that is not yet in the run.

    enough: enough(run, spent_ns) is called after every block; the run ends if it returns True
    """
    order, run = under_way.order, under_way.run
    done = {(result.arm, result.cell_id, result.block) for result in run.cells}
    total = order.plan.blocks * len(order.plan.entries())
    for block in range(1, order.plan.blocks + 1):
        for entries in _together(order.plan, under_way.bench.method, block, run.seed):
            left = [entry for entry in entries if (entry.arm, entry.cell.cell_id, block) not in done]
            if left:
                under_way.progress.cell_started(left[0].cell, block, len(run.cells), total)
                for result in _results(left, block, under_way):
                    under_way.keep(result, total)
        if enough(run, under_way.spent_ns):
            break
    run.profiles = profiles(order, under_way.bench)
    run.runtimes = {name: runtime.to_json() for name, runtime in order.runtimes.items()}
    under_way.finish()


def _results(entries: Sequence[Entry], block: int, under_way: RunInProgress) -> list[CellResult]:
    """Make the planned measurements *entries* at the same time, or one by one if memory is short. Return results."""
    run = under_way.run
    skipped = {entry.arm: result for entry in entries if (result := _not_tried(entry, block, run))}
    tried = [entry for entry in entries if entry.arm not in skipped]

    def measured(bench: Bench) -> list[CellResult]:
        if bench.method.slices and tried and tried[0].cell.num_clients:
            return measure_in_slices(tried, block, bench, run.seed)
        return [measure(entry.cell, entry.system, block, bench, entry.arm) for entry in tried]

    try:
        results = under_way.measure(tried, measured)
    except NotEnoughMemory as error:
        if any(cell.turns for cell in run.cells):
            raise BadInput("{reason}. Free some memory, then continue with --resume.", reason=error.message) from error
        under_way.measure_one_by_one(error.message)
        results = under_way.measure(tried, measured)
    return [*skipped.values(), *results]


def _not_tried(entry: Entry, block: int, run: Run) -> CellResult | None:
    """Return the result "not tried" if a user's service failed to start in MOST_STARTS or more blocks, else None."""
    cell = entry.cell
    if not entry.system.hosted:
        return None
    earlier = [result for result in run.cells if (result.arm, result.cell_id) == (entry.arm, cell.cell_id)]
    tried = [result for result in earlier if result.reason.code != NOT_TRIED]
    if len(tried) < MOST_STARTS or any(result.reason.code != NOT_READY for result in tried):
        return None
    return CellResult(
        cell_id=cell.cell_id,
        system=cell.system,
        runtime=cell.runtime,
        arm=entry.arm,
        block=block,
        params=cell.params,
        status="failed",
        reason=message(
            "the service was not started again, because it failed to start in {count} earlier blocks",
            code=NOT_TRIED,
            count=len(tried),
        ),
    )


def _together(plan: Plan, method: Method, block: int, seed: int) -> list[list[Entry]]:
    """Return the entries of a block in random order, in groups that are measured at the same time."""
    entries = plan.block(block, seed)
    if not method.slices:
        return [[entry] for entry in entries]
    settings: dict[str, list[Entry]] = {}
    for entry in entries:
        key = f"{entry.cell.system} {json.dumps(entry.cell.params)}" + entry.arm * (not entry.cell.num_clients)
        settings.setdefault(key, []).append(entry)
    return [*settings.values()]


def _changed_meanwhile(before: Fingerprint, after: Fingerprint, run: Run) -> Message:
    states = run.fingerprints[CODE]
    changes = code_changes(states[before.code], states[after.code])
    environment = [message("the interpreter, packages or programs changed")]
    return message(
        "the code or the environment changed during the measurement: {changes}", changes=listed(changes or environment)
    )
