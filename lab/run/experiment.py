"""Carries out a run: measures every block of a plan, cell by cell, and saves the run after each cell."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
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
from lab.run.beside import Standing
from lab.run.cell_run import NOT_READY, Bench
from lab.run.fingerprints import Fingerprint, Fingerprinter
from lab.run.measure import NotEnoughMemory, measure, measure_in_slices
from lab.run.profiling import profiles
from lab.run.runs import Order, note_time
from lab.run.sandbox import Sandbox

MOST_STARTS = 2

Enough = Callable[[Run, int], bool]


class Progress(Protocol):
    """A display that shows how many cells of a run are measured."""

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Show that *cell* is being measured. *done* of *total* cells are finished."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Show that a cell is finished. *done* includes that cell."""


def carry_out(
    order: Order,
    run: Run,
    sandbox: Sandbox,
    progress: Progress,
    enough: Enough = lambda run, spent_ns: False,
    beside: Standing = Standing(),  # noqa: B008 - frozen
) -> None:
    """Measure every cell of the plan that *run* does not hold yet, and save *run* after each.

    enough: enough(run, spent_ns) is called after every block; the run ends if it returns True
    Raises BesideFailed if a program beside the services ends; cells that this may have spoilt are measured again.
    """
    start_ns = perf_counter_ns()
    file = RunFile(order.folder)
    done = {(result.arm, result.cell_id, result.block) for result in run.cells}
    total = order.plan.blocks * len(order.plan.entries())
    fingerprints = Fingerprinter(order.plan, order.runtimes, run.fingerprints)
    file.save(run)
    bench = Bench(
        sandbox=sandbox, runtimes=order.runtimes, method=order.plan.method, places=order.places, beside=beside
    )
    for block in range(1, order.plan.blocks + 1):
        for entries in _together(order.plan, bench.method, block, run.seed):
            left = [entry for entry in entries if (entry.arm, entry.cell.cell_id, block) not in done]
            if not left:
                continue
            progress.cell_started(left[0].cell, block, len(run.cells), total)
            results = {entry.arm: result for entry in left if (result := _not_tried(entry, block, run))}
            tried = [entry for entry in left if entry.arm not in results]
            try:
                measured = _measured(tried, block, bench, fingerprints, run)
            except NotEnoughMemory as error:
                if any(cell.turns for cell in run.cells):
                    raise BadInput(
                        "{reason}. Free some memory, then continue with --resume.", reason=error.message
                    ) from error
                bench = replace(bench, method=replace(bench.method, slices=False))
                run.plan |= {"method": bench.method.to_json(), "arm_order_reason": error.message.to_json()}
                measured = _measured(tried, block, bench, fingerprints, run)
            beside.expect_alive(saved_so_far(order.folder))
            for result in (*results.values(), *measured):
                run.cells.append(result)
                file.save(run)
                progress.cell_ended(result, len(run.cells), total)
        if enough(run, perf_counter_ns() - start_ns):
            break
    run.profiles = profiles(order, bench)
    run.runtimes = {name: runtime.to_json() for name, runtime in order.runtimes.items()}
    run.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
    note_time(order.folder, run, "cells", perf_counter_ns() - start_ns)


def saved_so_far(folder: Path) -> Message:
    """Return how a run goes on that a program beside the services has ended."""
    return message(
        "during the run. What was measured is kept; continue with: {program} --resume {folder}",
        program=PROGRAM,
        folder=str(folder),
    )


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
        reason=message("not tried: the service did not start in {count} blocks", code=NOT_TRIED, count=len(tried)),
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


def _measured(
    entries: Sequence[Entry], block: int, bench: Bench, fingerprints: Fingerprinter, run: Run
) -> list[CellResult]:
    """Measure the cells of *entries* at the same time or one after another, and return their results."""

    def results() -> list[CellResult]:
        if bench.method.slices and entries and entries[0].cell.num_clients:
            return measure_in_slices(entries, block, bench, run.seed)
        return [measure(entry.cell, entry.system, block, bench, entry.arm) for entry in entries]

    return judged(entries, results, fingerprints, run)


def judged(
    entries: Sequence[Entry], measured: Callable[[], list[CellResult]], fingerprints: Fingerprinter, run: Run
) -> list[CellResult]:
    """Call measured(), and return its results with fingerprints of code and environment.

    A result is invalid if its fingerprint changed during the measurement.
    """
    before = [fingerprints.of(entry.cell, entry.system) for entry in entries]
    known_results = []
    for entry, earlier, result in zip(entries, before, measured(), strict=True):
        later = fingerprints.of(entry.cell, entry.system)
        known = replace(result, code=earlier.code, environment=earlier.environment)
        if earlier != later and result.status == "ok":
            known = replace(known, status="invalid", reason=_changed_meanwhile(earlier, later, run))
        known_results.append(known)
    return known_results


def _changed_meanwhile(before: Fingerprint, after: Fingerprint, run: Run) -> Message:
    states = run.fingerprints[CODE]
    changes = code_changes(states[before.code], states[after.code])
    environment = [message("the interpreter, packages or programs changed")]
    return message("during the measurement: {changes}", changes=listed(changes or environment))
