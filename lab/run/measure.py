"""Measure the cells of a block: one cell alone, or all arms of a setting, which take turns in slices of time."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from time import perf_counter_ns

from config.orders import block_order
from config.plan import Entry
from core.cell import Cell
from core.errors import GilscopeError
from core.result import CellResult
from core.system import System
from lab.machine.host import memory_available_bytes
from lab.run.cell_run import Bench, CellRun
from lab.run.core_waits import CoreWaitSampler
from lab.run.turns import size_slices

MEMORY_SPARE = 1.25  # because services use more memory under load


class NotEnoughMemory(GilscopeError):
    """The error that the compared services and their clients do not fit into memory at the same time."""


def measure(
    cell: Cell,
    system: System,
    block: int,
    bench: Bench,
    arm: str = "",
    take_turns: Callable[[CellRun], None] = CellRun.take_turn,
) -> CellResult:
    """Run *cell* once, alone, and return its result. If a child process fails, the result says so; nothing is raised.

    arm: the name of the arm, if it differs from that of the runtime
    take_turns: lets the clients send; by default once, as the method says
    """
    start_ns = perf_counter_ns()
    with CellRun(Entry(arm=arm or cell.runtime, cell=cell, system=system), block, bench) as alone:
        alone.do(lambda: alone.enter_context(alone.places.kept_awake(cell.keep_awake)))
        for step in (alone.launch, alone.connect, alone.warm_up, alone.begin):
            alone.do(step)
        with CoreWaitSampler(alone.waiting_pids) as cores:
            alone.do(take_turns, alone)
        alone.do(alone.end, cores.timelines)
    return alone.result(perf_counter_ns() - start_ns)


def measure_in_slices(entries: Sequence[Entry], block: int, bench: Bench, seed: int) -> list[CellResult]:
    """Measure all arms (runtimes or services) of one setting in alternating time slices. Return their results.

    The arms take turns, so clients send to one arm at a time. If an arm fails, the others go on.
    Raises NotEnoughMemory if the arms do not all fit into memory.
    """
    start_ns, key = perf_counter_ns(), min(entry.cell.cell_id for entry in entries)
    with ExitStack() as stack:
        arms = [stack.enter_context(CellRun(entry, block, bench)) for entry in entries]
        first, *others = [arms[place] for place in block_order(len(arms), block, seed)]
        # The arm that has the first slice warms up last.
        warmed = [arms[place] for place in block_order(len(arms), 1, seed + block)[::-1]]
        first.do(lambda: stack.enter_context(first.places.kept_awake(entries[0].cell.keep_awake)))
        if key not in bench.slices:
            _each([first], CellRun.launch, CellRun.connect)
            if not bench.places:
                _expect_memory(first.memory_bytes() * len(others), len(arms))
            _each(others, CellRun.launch, CellRun.connect)
            _each(warmed, CellRun.warm_up, CellRun.try_slice)
            bench.slices[key] = size_slices(max(arm.latency_ns for arm in arms), bench.method.duration_s)
        else:
            _each([first, *others], CellRun.launch, CellRun.connect)
            _each(warmed, CellRun.warm_up)
        _each(arms, CellRun.begin)
        count, part = bench.slices[key]
        with CoreWaitSampler({name: pids for arm in arms for name, pids in arm.waiting_pids.items()}) as cores:
            for turn in range(count):
                for place in block_order(len(arms), turn + 1, seed + block):
                    arms[place].do(arms[place].take_turn, part)
        for arm in arms:
            arm.do(arm.end, cores.timelines)
    spent_ns = (perf_counter_ns() - start_ns) // len(arms)
    return [arm.result(spent_ns) for arm in arms]


def _each(arms: Sequence[CellRun], *steps: Callable[[CellRun], None]) -> None:
    """Call the first function of *steps* for all *arms*, then the next function for all arms, and so on."""
    for step in steps:
        for arm in arms:
            arm.do(step, arm)


def _expect_memory(needed_bytes: int, arms: int) -> None:
    available_bytes = memory_available_bytes()
    if available_bytes is not None and needed_bytes * MEMORY_SPARE > available_bytes:
        raise NotEnoughMemory(
            "{arms} runtimes or services measured at once need {needed_mib:.0f} MiB in addition to the first one, "
            "but only {available_mib:.0f} MiB are free",
            arms=arms,
            needed_mib=needed_bytes * MEMORY_SPARE / 2**20,
            available_mib=available_bytes / 2**20,
        )
