"""Measure the cells of a block: one cell alone, or all arms of a setting, which take turns in slices of time.

The idea of slices is from duet benchmarking (Bulej et al., ICPE 2020): interleaved arms meet the same disturbances.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from time import perf_counter_ns

from config.orders import block_order
from config.plan import Entry
from core.cell import Cell
from core.child import Slice
from core.errors import GilscopeError
from core.result import CellResult
from core.system import System
from lab.machine.host import memory_available_bytes
from lab.run.cell_run import PILOT, Bench, CellRun
from lab.run.core_waits import CoreWaitSampler

SHORTEST_NS, LONGEST_NS = PILOT.length_ns, 500_000_000
REQUESTS = 40  # a slice is long enough for this many requests per connection, but not above LONGEST_NS
LEAD_REQUESTS = 8  # requests before the slice counts, until threads queue for the GIL and caches are warm
LEAST_LEAD, LONGEST_LEAD_NS = 0.05, 100_000_000  # bounds of the lead: a share of the slice, and a time
MEMORY_SPARE = 1.25  # because services use more memory under load


class NotEnoughMemory(GilscopeError):
    """The error that the compared services and their clients do not fit into memory at the same time."""


def measure(
    cell: Cell, system: System, block: int, bench: Bench, arm: str = "", part: Slice | None = None
) -> CellResult:
    """Run *cell* once, alone, and return its result. If a child process fails, the result says so; nothing is raised.

    arm: the name of the arm, if it differs from that of the runtime
    part: the slice in which the clients send; None to send as the method says
    """
    entry = Entry(arm=arm or cell.runtime, cell=cell, system=system)
    (result,) = measure_in_slices([entry], block, bench, 0, (1, part))
    return result


def measure_in_slices(
    entries: Sequence[Entry], block: int, bench: Bench, seed: int, slices: tuple[int, Slice | None] = (0, None)
) -> list[CellResult]:
    """Measure all arms (runtimes or services) of one setting in alternating time slices. Return their results.

    The arms take turns, so clients send to one arm at a time. If an arm fails, the others go on.
    slices: how often each arm sends, and the slice; 0 for those of the setting, which its first block determines
    Raises NotEnoughMemory if the arms do not all fit into memory.
    """
    start_ns, key = perf_counter_ns(), min(entry.cell.cell_id for entry in entries)
    count, part = slices if slices[0] else bench.slices.get(key, slices)
    with ExitStack() as stack:
        arms = [stack.enter_context(CellRun(entry, block, bench)) for entry in entries]
        first, *others = [arms[place] for place in block_order(len(arms), block, seed)]
        first.do(lambda: stack.enter_context(first.places.kept_awake(entries[0].cell.keep_awake)))
        together = [first, *others] if count else [first]
        _each(together, CellRun.launch, CellRun.connect)
        if not count:
            if not bench.places:
                _expect_memory(first.memory_bytes() * len(others), len(arms))
            _each(others, CellRun.launch, CellRun.connect)
        # The arm that has the first slice warms up last.
        warmed = [arms[place] for place in block_order(len(arms), 1, seed + block)[::-1]]
        _each(warmed, CellRun.warm_up)
        if not count:
            _each(warmed, CellRun.try_slice)
            latency_ns = max(arm.latency_ns for arm in arms)
            count, part = bench.slices[key] = size_slices(latency_ns, bench.method.duration_s)
        _each(arms, CellRun.begin)
        with CoreWaitSampler({child: pids for arm in arms for child, pids in arm.waiting_pids.items()}) as cores:
            for turn in range(count):
                for place in block_order(len(arms), turn + 1, seed + block):
                    arms[place].do(arms[place].take_turn, part)
        for arm in arms:
            arm.do(arm.end, cores.timelines)
    spent_ns = (perf_counter_ns() - start_ns) // len(arms)
    return [arm.result(spent_ns) for arm in arms]


def size_slices(latency_ns: float, duration_s: float) -> tuple[int, Slice]:
    """Return how many time slices a runtime or service gets in a block (an even number), and the length of a slice.

    latency_ns: the mean latency of the slowest runtime or service
    """
    wanted_ns = min(LONGEST_NS, max(SHORTEST_NS, REQUESTS * latency_ns))
    count = 2 * max(1, round(duration_s * 1e9 / wanted_ns / 2))
    length_ns = round(duration_s * 1e9 / count)
    lead_ns = min(LONGEST_LEAD_NS, max(LEAST_LEAD * length_ns, LEAD_REQUESTS * latency_ns))
    return count, Slice(lead_ns=round(lead_ns), length_ns=length_ns)


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
