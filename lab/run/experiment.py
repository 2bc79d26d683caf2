"""A run: every block of a plan, cell by cell, saved after each."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter_ns
from typing import Any, Protocol

from config.plan import Entry
from core.cell import Cell
from core.messages import Message, message
from core.result import CellResult, Run, RunFile, unfinished
from core.system import System
from lab.machine import doctor, quiet
from lab.profile.perf import ProfileFailed, Recording, hottest
from lab.run.measure import NOT_READY, Bench, measure
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


def carry_out(order: Order, run: Run, progress: Progress, enough: Enough = lambda run, spent_ns: False) -> None:
    """Measure every cell of the plan that *run* does not hold yet; save after each.

    enough(run, spent_ns) is asked after every block whether it was the last.
    """
    start_ns = perf_counter_ns()
    file = RunFile(order.folder)
    done = {(result.arm, result.cell_id, result.block) for result in run.cells}
    total = order.plan.blocks * len(order.plan.entries())
    leftovers = [unfinished(order.folder), *([] if order.folder.exists() else [order.folder])]
    with Sandbox(leftovers) as sandbox:
        file.save(run)
        bench = Bench(sandbox=sandbox, runtimes=order.runtimes, method=order.plan.method)
        for block in range(1, order.plan.blocks + 1):
            for entry in order.plan.block(block, run.seed):
                if (entry.arm, entry.cell.cell_id, block) in done:
                    continue
                progress.cell_started(entry.cell, block, len(run.cells), total)
                result = _not_started(entry, block, run) or _watched(entry, block, bench)
                run.cells.append(result)
                file.save(run)
                progress.cell_ended(result, len(run.cells), total)
            if enough(run, perf_counter_ns() - start_ns):
                break
        if order.profile:
            run.profiles = [_profiled(cell, order.plan.systems[cell.system], bench) for cell in order.plan.cells()]
    run.runtimes = {name: runtime.to_json() for name, runtime in order.runtimes.items()}
    run.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
    note_time(order.folder, run, "cells", perf_counter_ns() - start_ns)


def _not_started(entry: Entry, block: int, run: Run) -> CellResult | None:
    """The failure of a user's service that has never started, MOST_STARTS times: it is not waited for again."""
    if not entry.system.hosted:
        return None
    earlier = [cell for cell in run.cells if (cell.arm, cell.cell_id) == (entry.arm, entry.cell.cell_id)]
    not_ready = [cell for cell in earlier if cell.reason.code == NOT_READY]
    hopeless = len(not_ready) >= MOST_STARTS and len(not_ready) == len(earlier)
    return replace(not_ready[-1], block=block, overhead_ns=0, disturbances=[]) if hopeless else None


def _watched(entry: Entry, block: int, bench: Bench) -> CellResult:
    """The cell's result, with what disturbed it on the machine meanwhile."""
    before = quiet.snapshot()
    result = measure(entry.cell, entry.system, block, bench, entry.arm)
    window = quiet.between(before, quiet.snapshot())
    return replace(result, disturbances=doctor.disturbances(window, os.cpu_count()))


def _profiled(cell: Cell, system: System, bench: Bench) -> dict[str, Any]:
    """One more cell, which is not counted, with perf on its first service: its hottest functions and locks."""
    profile = {"cell_id": cell.cell_id, "system": cell.system, "runtime": cell.runtime, "params": cell.params}
    file = bench.sandbox.folder / "perf.data"
    watch = partial(Recording, file=file, process_group=bench.sandbox.process_group)
    result = measure(cell, system, 0, replace(bench, watch=watch))
    if result.status != "ok":
        return {**profile, "sentence": _not_profiled(result.reason)}
    try:
        return {**profile, **hottest(file).to_json()}
    except ProfileFailed as failed:
        return {**profile, "sentence": _not_profiled(failed.message)}
    finally:
        file.unlink(missing_ok=True)


def _not_profiled(reason: Message) -> dict[str, Any]:
    return message("not profiled: {reason}", reason=reason).to_json()
