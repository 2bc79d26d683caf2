"""Measure every block of a plan, or search for the highest request rate, and save the run after
each cell.

commands/running.py makes a RunInProgress, and calls carry_out() or search_capacity() once. Both
change the Run (record/saved_run.py) that they are given, and save it in result.json. A block
measures every cell of the plan once. A probe is a measurement of a search for the capacity. An
entry is a cell with its system and its arm (config/run_plan.py).
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter_ns
from typing import Protocol

from analysis.capacity_search import wanted
from analysis.choice import dropped_settings
from analysis.decisions import is_enough, is_hopeful, is_hopeless
from config.run_plan import Entry, Plan
from core.cell import MACHINE_PARAMETERS, Cell
from core.child import Slice
from core.fingerprint import CODE, code_changes
from core.messages import BadInput, Json, message
from core.method import Method
from core.resume import resume_command
from lab.folders import Sandbox
from lab.run.cell_end import STARVED
from lab.run.cell_processes import NOT_READY, Bench, identity
from lab.run.fingerprints import Fingerprinter
from lab.run.measure import NotEnoughMemory, measure_in_slices, size_probe
from lab.run.profiling import profiles
from lab.run.running_sidecars import RunningBeside
from lab.run.runs import Order
from record.comparison import setting_key
from record.run_file import RunFile
from record.saved_run import NOT_TRIED, CellResult, Run

MOST_STARTS = 2  # after so many equal failures, a user's service is not started again
# of services and clients that exist at the same time; more take too long to start
MOST_PROCESSES = 400


class Progress(Protocol):
    """A display of a run's progress, which counts its finished measurements (cells).

    reports/render/progress.py has the displays.
    """

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Show that *cell* is being measured. *done* of *total* cells are finished."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Show that the measurement of a cell is finished. *done* counts this cell, too."""


class RunInProgress:
    """A run in progress. Each result is saved, with its fingerprints, before the next measurement
    starts.

    run: the object of the caller, which this object changes and saves
    Raises BesideFailed if a program beside the services ends; cells that this may have spoilt are
    measured again.
    """

    def __init__(
        self,
        order: Order,
        run: Run,
        sandbox: Sandbox,
        progress: Progress,
        beside: RunningBeside,
    ) -> None:
        self.order, self.run, self.progress = order, run, progress
        self.bench = Bench(
            sandbox=sandbox,
            runtimes=order.runtimes,
            method=order.plan.method,
            places=order.places,
            beside=beside,
        )
        self._started_ns, self._earlier_ns = perf_counter_ns(), run.spent_ns.get("cells", 0)
        run.finished_at = ""  # of a run that goes on
        self._fingerprints = Fingerprinter(order.plan, order.runtimes, run.fingerprints)
        self._file = RunFile(order.folder)
        self._file.save(run)

    @property
    def total_ns(self) -> int:
        """Return the time in ns that the run has taken, also before it was resumed."""
        return self._earlier_ns + perf_counter_ns() - self._started_ns

    def measure(
        self, entries: Sequence[Entry], block: int, part: Slice | None = None
    ) -> list[CellResult]:
        """Make the measurements *entries*, and add fingerprints of code and environment to them.

        They are made at the same time, or one by one if there are no time slices or if memory is
        short. A result is invalid if its fingerprint changed during the measurement.
        If memory is short, slices are off for the rest of the run, and in run.plan. Raises BadInput
        if slices were measured before.
        part: the slice in which clients send; None to send as the method says
        """
        before = [self._fingerprints.of(entry.cell, entry.system) for entry in entries]
        try:
            results = self._measured(entries, block, part)
        except NotEnoughMemory as error:
            # The method of a run does not change once cells were measured in slices.
            if any(cell.turns.slices for cell in self.run.cells):
                raise BadInput(
                    "{reason}. Free some memory, then continue with --resume.", reason=error.message
                ) from error
            self.bench = replace(self.bench, method=replace(self.bench.method, slices=False))
            self.run.plan = replace(
                self.run.plan, method=self.bench.method, arm_order_reason=error.message
            )
            results = self._measured(entries, block, part)
        self.bench.beside.expect_alive(
            message(
                "during the run. All finished measurements are saved. Continue with: {command}",
                command=resume_command(self.order.folder, self.run.command, self.run.plan.own),
            )
        )
        return [self._with_fingerprint(*one) for one in zip(entries, before, results, strict=True)]

    def _measured(
        self, entries: Sequence[Entry], block: int, part: Slice | None
    ) -> list[CellResult]:
        groups = [entries] if self.bench.method.slices else [[entry] for entry in entries]
        return [
            result
            for group in groups
            for result in measure_in_slices(group, block, self.bench, self.run.seed, part)
        ]

    def _with_fingerprint(self, entry: Entry, earlier: Json, result: CellResult) -> CellResult:
        later = self._fingerprints.of(entry.cell, entry.system)
        result = replace(result, **earlier)
        if earlier == later or result.status != "ok":
            return result
        states = self.run.fingerprints[CODE]
        changes = code_changes(states[earlier["code"]], states[later["code"]])
        other = message("the interpreter, packages or programs changed")
        reason = message(
            "the code or the environment changed during the measurement: {changes}",
            changes=changes or [other],
        )
        return replace(result, status="invalid", reason=reason)

    def keep(self, result: CellResult, total: int) -> None:
        """Add a result to the run and save the run.

        total: the number of cells that the display shows
        """
        self.run.cells.append(result)
        self._save()
        self.progress.cell_ended(result, len(self.run.cells), total)

    def finish(self) -> None:
        """Save the time at which the run ended, and the time that its cells took."""
        self.run.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._save()

    def _save(self) -> None:
        self.run.spent_ns["cells"] = self.total_ns  # also kept if the run is stopped later
        self._file.save(self.run)


def carry_out(under_way: RunInProgress) -> None:
    """Measure every cell of the plan that is not yet in the run, or until its results are enough
    (Plan.until), or until no answer was right in the first blocks from now on. Then take the
    profiles, unless no new answer was right.
    """
    order, run = under_way.order, under_way.run
    earlier = len(run.cells)
    done = {(result.arm, result.cell_id, result.block) for result in run.cells}
    total = order.plan.blocks * len(order.plan.entries())
    begun = {cell.block for cell in run.cells}
    for block in range(1, order.plan.blocks + 1):
        if is_hopeless(run.cells[earlier:]):
            break
        is_new = bool(run.cells) and block not in begun
        if is_new and is_enough(run, order.plan.until, under_way.total_ns):
            break
        dropped = dropped_settings(run)
        for entries in together(order.plan, under_way.bench.method, block, run.seed):
            left = [
                entry
                for entry in entries
                if (entry.arm, entry.cell.cell_id, block) not in done
                and setting_key(entry.cell.system, entry.cell.params) not in dropped
            ]
            if left:
                under_way.progress.cell_started(left[0].cell, block, len(run.cells), total)
                skipped = [_not_tried(entry, block, run) for entry in left]
                tried = [entry for entry, why in zip(left, skipped, strict=True) if not why]
                measured = under_way.measure(tried, block) if tried else []
                for result in (*filter(None, skipped), *measured):
                    under_way.keep(result, total)
    new = run.cells[earlier:]
    taken = profiles(order, under_way.bench) if not new or any(map(is_hopeful, new)) else []
    # In a resumed run, a new profile of a cell takes the place of the earlier one.
    every = (*run.profiles, *taken)
    run.profiles = [*{(one.get("kind"), one.get("cell_id")): one for one in every}.values()]
    run.runtimes |= {name: runtime.facts() for name, runtime in order.runtimes.items()}
    under_way.finish()


def together(plan: Plan, method: Method, block: int, seed: int) -> list[list[Entry]]:
    """Return the entries of a block in random order, in groups that are measured at the same time.

    The entries of a group differ only in their arm and in swept parameters. lab/run/measure.py
    reads RATE and KEEP_AWAKE of the first one alone.
    The values of swept parameters are in one group, unless they have more than MOST_PROCESSES
    processes.
    """
    groups = []
    for entries in _grouped(plan.block(block, seed), method, plan.swept):
        processes = sum(one.cell.num_api_services + one.cell.num_clients for one in entries)
        groups += [entries] if processes <= MOST_PROCESSES else _grouped(entries, method, {})
    return groups


def _grouped(
    entries: Sequence[Entry], method: Method, swept: Mapping[str, set[str]]
) -> list[list[Entry]]:
    """Group entries that have the same system and parameters, except for those that are *swept*, by
    system. An entry that cannot be measured in slices is alone.
    """
    groups: dict[object, list[Entry]] = {}
    for entry in entries:
        # "" is the key of the arm, because no parameter has this name
        cell, key = entry.cell, {**entry.cell.params, "": entry.arm}
        if method.slices and cell.num_clients:
            # A parameter of the machine stays in the key: it has one value at a time.
            for name in {"", *swept.get(cell.system, ())} - {*MACHINE_PARAMETERS}:
                key.pop(name, None)
        groups.setdefault((cell.system, *key.items()), []).append(entry)
    return [*groups.values()]


def _not_tried(entry: Entry, block: int, run: Run) -> CellResult | None:
    """Return the result "not tried" if a user's service failed in MOST_STARTS or more blocks,
    always the same way.

    It failed to start, or some of the connections got no answer. Return None in all other cases.
    """
    if not entry.system.hosted:
        return None
    tried = [
        result.reason.code
        for result in run.cells
        if (result.arm, result.cell_id) == (entry.arm, entry.cell.cell_id)
        and result.reason.code != NOT_TRIED
    ]
    causes = {
        NOT_READY: message("it failed to start in {count} earlier blocks", count=len(tried)),
        STARVED: message("connections got no answer in {count} earlier blocks", count=len(tried)),
    }
    if len(tried) < MOST_STARTS or len({*tried}) > 1 or not (cause := causes.get(tried[0])):
        return None
    return CellResult(
        **identity(entry, block),
        status="failed",
        reason=message(
            "the service was not started again, because {cause}", code=NOT_TRIED, cause=cause
        ),
    )


# ---- the search for the capacity -----------------------------------------------------------------


def search_capacity(under_way: RunInProgress) -> None:
    """Measure request rates until the capacities are known (analysis.capacity_search); the next
    ones are in random order.
    """
    run, plan = under_way.run, under_way.order.plan
    # A resumed search has more cells, and so does not repeat the orders of the earlier part.
    shuffled = random.Random(run.seed + len(run.cells))
    while left := [*wanted(run)]:
        shuffled.shuffle(left)
        for one in left:
            entry = Entry(arm=one.arm, cell=one.cell, system=plan.system_of(one.cell))
            total = len(run.cells) + len(left)
            under_way.progress.cell_started(one.cell, one.block, len(run.cells), total)
            part = size_probe(one.rate, one.closed_rate, one.purpose, plan.objectives)
            (result,) = under_way.measure([entry], one.block, part)
            under_way.keep(replace(result, probe=one.purpose), total)
    under_way.finish()
