"""A run: every block of a plan, cell by cell, saved after each."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter_ns
from typing import Protocol

from config.plan import Entry
from core.cell import Cell
from core.fingerprint import CODE, code_changes
from core.messages import Message, listed, message
from core.result import NOT_TRIED, CellResult, Run, RunFile
from lab.run.fingerprints import Fingerprint, Fingerprints
from lab.run.measure import NOT_READY, Bench, measure
from lab.run.profiling import profiles
from lab.run.runs import Order, note_time
from lab.run.sandbox import Sandbox

MOST_STARTS = 2

Enough = Callable[[Run, int], bool]


class Progress(Protocol):
    """Shows how far a run has come."""

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """*done* of *total* cells have been measured."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """One more is."""


def carry_out(
    order: Order, run: Run, sandbox: Sandbox, progress: Progress, enough: Enough = lambda run, spent_ns: False
) -> None:
    """Measure every cell of the plan that *run* does not hold yet; save after each.

    enough(run, spent_ns) is asked after every block whether it was the last.
    """
    start_ns = perf_counter_ns()
    file = RunFile(order.folder)
    done = {(result.arm, result.cell_id, result.block) for result in run.cells}
    total = order.plan.blocks * len(order.plan.entries())
    fingerprints = Fingerprints(order.plan, order.runtimes, run.fingerprints)
    file.save(run)
    bench = Bench(sandbox=sandbox, runtimes=order.runtimes, method=order.plan.method, places=order.places)
    for block in range(1, order.plan.blocks + 1):
        for entry in order.plan.block(block, run.seed):
            if (entry.arm, entry.cell.cell_id, block) in done:
                continue
            progress.cell_started(entry.cell, block, len(run.cells), total)
            run.cells.append(_not_tried(entry, block, run) or _measured(entry, block, bench, fingerprints, run))
            file.save(run)
            progress.cell_ended(run.cells[-1], len(run.cells), total)
        if enough(run, perf_counter_ns() - start_ns):
            break
    run.profiles = profiles(order, bench)
    run.runtimes = {name: runtime.to_json() for name, runtime in order.runtimes.items()}
    run.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
    note_time(order.folder, run, "cells", perf_counter_ns() - start_ns)


def _not_tried(entry: Entry, block: int, run: Run) -> CellResult | None:
    """That a user's service was not started, where it has failed to start MOST_STARTS times and never did start."""
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
        reason=message("not tried: its service did not start in {count} blocks", code=NOT_TRIED, count=len(tried)),
    )


def _measured(entry: Entry, block: int, bench: Bench, fingerprints: Fingerprints, run: Run) -> CellResult:
    """The cell's result with what it was measured with. It is invalid where that changed meanwhile."""
    before = fingerprints.of(entry.cell, entry.system)
    result = measure(entry.cell, entry.system, block, bench, entry.arm)
    after = fingerprints.of(entry.cell, entry.system)
    result = replace(result, code=before.code, environment=before.environment)
    if before == after or result.status != "ok":
        return result
    return replace(result, status="invalid", reason=_changed_meanwhile(before, after, run))


def _changed_meanwhile(before: Fingerprint, after: Fingerprint, run: Run) -> Message:
    states = run.fingerprints[CODE]
    changes = code_changes(states[before.code], states[after.code])
    environment = [message("its interpreter, packages or programs changed")]
    return message("while it was measured: {changes}", changes=listed(changes or environment))
