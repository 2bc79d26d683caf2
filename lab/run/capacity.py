"""A search for the highest rate that meets service level objectives: probes in fresh processes, saved after each."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter_ns
from typing import Protocol

from config.plan import Entry
from core.child import Slice
from core.objective import Load, Objective, Wanted
from core.result import CellResult, Run, RunFile
from lab.run.beside import Standing
from lab.run.cell_run import Bench, CellRun
from lab.run.core_waits import CoreWaitSampler
from lab.run.experiment import Progress, judged, saved_so_far
from lab.run.fingerprints import Fingerprinter
from lab.run.runs import Order, note_time
from lab.run.sandbox import Sandbox

SHORT = Slice(lead_ns=500_000_000, length_ns=1_500_000_000)
LEAD_NS = 1_000_000_000  # of the long part: queues must build up as they do under a steady load
SHORTEST_NS, LONGEST_NS = 5_000_000_000, 15_000_000_000
MISSES = 45  # that a probe at the limit should have, because fewer say little


class Search(Protocol):
    """What decides on the probes: reports.facts.capacity."""

    def wanted(self, run: Run) -> Sequence[Wanted]:
        """Return the next probe of each arm that is still searched."""

    def is_clear(self, load: Load, objective: Objective) -> bool:
        """Return whether a short probe shows clearly that *objective* is met, or that it is not."""


def search_capacity(
    order: Order, run: Run, sandbox: Sandbox, progress: Progress, search: Search, beside: Standing
) -> None:
    """Run the probes that *search* asks for, until it asks for none. The probes of all arms alternate at random."""
    start_ns, file = perf_counter_ns(), RunFile(order.folder)
    plan, shuffled = order.plan, random.Random(run.seed + len(run.cells))
    entries = {(entry.arm, entry.cell.cell_id): entry for entry in plan.entries()}
    fingerprints = Fingerprinter(plan, order.runtimes, run.fingerprints)
    file.save(run)
    bench = Bench(sandbox=sandbox, runtimes=order.runtimes, method=plan.method, places=order.places, beside=beside)
    while wanted := [*search.wanted(run)]:
        shuffled.shuffle(wanted)
        for one in wanted:
            entry = entries[one.arm, one.cell.cell_id]
            probed = replace(entry, cell=replace(entry.cell, rate=max(1, round(one.rate / entry.cell.num_clients))))
            probed = entry if not one.rate else probed
            block = 1 + sum(cell.arm == one.arm and _is_probe_of(cell, entry) for cell in run.cells)
            total = len(run.cells) + len(wanted)
            progress.cell_started(probed.cell, block, len(run.cells), total)

            def measured(of: Entry = probed, block: int = block, *, is_long: bool = one.is_long) -> list[CellResult]:
                return [probe(of, block, bench, plan.objectives, None if is_long else search.is_clear)]

            (result,) = judged([probed], measured, fingerprints, run)
            beside.expect_alive(saved_so_far(order.folder))
            run.cells.append(replace(result, probe=one.purpose))
            file.save(run)
            progress.cell_ended(result, len(run.cells), total)
    run.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
    note_time(order.folder, run, "cells", perf_counter_ns() - start_ns)


def _is_probe_of(cell: CellResult, entry: Entry) -> bool:
    return cell.system == entry.cell.system and {**cell.params, "RATE": entry.cell.rate} == entry.cell.params


def probe(
    entry: Entry,
    block: int,
    bench: Bench,
    objectives: Sequence[Objective],
    is_clear: Callable[[Load, Objective], bool] | None,
) -> CellResult:
    """Measure one rate in fresh processes; for a short time if that *is_clear*. None: for the whole time."""
    start_ns, rate = perf_counter_ns(), entry.cell.rate * entry.cell.num_clients
    with CellRun(entry, block, bench) as run:
        for step in (run.launch, run.connect, run.warm_up, run.begin):
            run.do(step)
        with CoreWaitSampler(run.waiting_pids) as cores:
            run.do(run.take_turn, SHORT)
            if (
                not run.failure
                and rate
                and not (is_clear and all(is_clear(run.load(), objective) for objective in objectives))
            ):
                run.do(run.take_turn, _long(rate, objectives))
        run.do(run.end, cores.timelines)
    return run.result(perf_counter_ns() - start_ns)


def _long(rate: float, objectives: Sequence[Objective]) -> Slice:
    """Return a slice that is long enough for MISSES at the limit of every objective."""
    wanted_s = max(MISSES / (rate * objective.share) for objective in objectives)
    return Slice(lead_ns=LEAD_NS, length_ns=round(min(LONGEST_NS, max(SHORTEST_NS, wanted_s * 1e9))))
