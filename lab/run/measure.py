"""Measure the cells of a block: one cell alone, or all arms of a setting, which take turns in
slices of time.

The idea of slices is from duet benchmarking (Bulej et al., ICPE 2020): interleaved arms meet the
same disturbances.
docs/decisions/029-slices.md and 031-capacity-search.md explain the lengths below.

lab/run/experiment.py calls measure_in_slices(), with a slice of size_probe() in a search. Profiles
and stress rounds call measure(). commands/estimate.py shows search_s() before a run. The steps of
an arm are methods of CellRun (lab/run/cell_run.py). In a slice (core.child.Slice), one arm has its
turn: a lead, whose requests do not count, and the counted time. A cycle is the time from one
request of a connection to its next. A tail is the length of the longest requests that matter (Pace,
Histogram.tail_ns). A probe is a measurement of a search for the capacity, with one of the purposes
of core/objective.py.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from time import perf_counter_ns

from config.orders import block_order
from config.run_plan import Entry, Plan
from core.cell import Cell
from core.child import Slice
from core.messages import GilscopeError
from core.objective import (
    CLOSED,
    LONGEST_S,
    PICK,
    RELAXATIONS,
    SCAN,
    SEARCH,
    Objective,
    relaxation_s,
)
from core.runtime import NATIVE
from core.system import System
from lab.machine.host import memory_available_bytes
from lab.run.cell_processes import Bench, key_of
from lab.run.cell_results import Pace
from lab.run.cell_run import CellRun
from lab.run.core_waits import CoreWaitSampler
from record.saved_run import CellResult

TRIAL_NS = 150_000_000  # the first trial, which shows how long requests take
# of the counted time of a slice, if arms alternate; LONGEST_NS also limits the lead at a rate
SHORTEST_NS, LONGEST_NS = 100_000_000, 5_000_000_000
# up to this time, a cell takes longer than its duration because its requests do
MOST_NS = 30_000_000_000
CYCLES = 40  # a slice has at least so many requests of each connection,
TAILS = 4  # and is so many times as long as its longest requests
LEAD_CYCLES, LONGEST_LEAD_NS = 8, 100_000_000  # until threads queue for the GIL and caches are warm
LEAST_LEAD = 0.05  # as a share of the slice
# at a rate, queues build up: a time, or a share of the duration
RATE_LEAD_NS, RATE_LEAD = 500_000_000, 0.25
GROWN = 1.25  # later blocks expect longer requests if some turn up that are so many times as long
# a block is measured again, at most MOST_TRIES times in all, if its slices should have been more
# than TOO_SHORT times as long
TOO_SHORT, MOST_TRIES = 2.0, 3
MEMORY_SPARE = 1.25  # because services use more memory under load
# a probe starts with at least this time, in which queues build up as under a steady load
PROBE_LEAD_S = 0.5
PROBE_LATENCIES = 10  # a probe lasts for this many times the latency of an objective
# By purpose: the misses that a probe at the limit should have, and its shortest time in s. Fewer
# misses say little.
PROBES = {CLOSED: (0, 20.0), PICK: (8, 1.5), SCAN: (8, 1.5), SEARCH: (25, 7.0)}
TYPICAL = {CLOSED: 1, SCAN: 3, SEARCH: 7}  # measurements of a search, by purpose
TYPICAL_PICKS = 6  # for each setting
TYPICAL_LOAD = 0.9  # rate of a probe, as a share of what the closed loop reaches
PROBE_START_S = 2.0  # to start and stop what is measured


class NotEnoughMemory(GilscopeError):
    """The error that the compared services and their clients do not fit into memory at the same
    time.
    """


def measure(cell: Cell, system: System, block: int, bench: Bench) -> CellResult:
    """Run *cell* once, alone, and return its result. If a child process fails, the result says so;
    nothing is raised.

    block: 0 for a measurement that belongs to no block
    """
    entry = Entry(arm=cell.runtime, cell=cell, system=system)
    (result,) = measure_together([entry], block, bench, 0)
    return result


def measure_in_slices(
    entries: Sequence[Entry], block: int, bench: Bench, seed: int, part: Slice | None = None
) -> list[CellResult]:
    """Measure all arms (runtimes or services) of one setting, in alternating time slices. Return
    their results.

    The arms take turns, so clients send to one arm at a time. If an arm fails, the others go on. If
    requests take too long for slices, each arm has one slice. If longer requests turn up than the
    slices were made for, or no request is answered in them, the arms that did not fail otherwise
    are measured again with longer slices. Clients that cannot send in slices send as the method
    says.
    part: a slice in which each arm sends instead
    Raises NotEnoughMemory if the arms do not all fit into memory.
    """
    cell, method = entries[0].cell, bench.method
    takes_slices = entries[0].system.takes_slices(native_client=method.client_runtime == NATIVE)
    if part or not (method.duration_s and cell.num_clients and takes_slices):
        return measure_together(entries, block, bench, seed, part)
    if cell.rate:
        length_ns = round(method.duration_s * 1e9)
        lead_ns = max(RATE_LEAD_NS, min(LONGEST_NS, round(RATE_LEAD * length_ns)))
        part = Slice(lead_ns=lead_ns, length_ns=length_ns)
        return measure_together(entries, block, bench, seed, part)
    results: dict[str, CellResult] = {}
    left = list(entries)
    for _ in range(MOST_TRIES):
        made = measure_together(left, block, bench, seed, in_slices=True)
        results |= zip(map(key_of, left), made, strict=True)
        left = [entry for entry in left if _may_go_on(results[key_of(entry)])]
        paces = [bench.paces.get(key_of(entry), Pace()) for entry in left]
        used_ns = max(result.turns.length_ns for result in made)  # 0 if no arm had a slice
        if (
            not (left and used_ns)
            or size_slices(paces, method.duration_s)[1].length_ns <= TOO_SHORT * used_ns
        ):
            break
    return [results[key_of(entry)] for entry in entries]


def _may_go_on(result: CellResult) -> bool:
    """Return whether an arm did not fail, or only had too short a time for any answer."""
    is_too_short = result.turns.slices and not (result.requests or result.errors)
    return result.status != "failed" or bool(is_too_short)


def measure_together(
    entries: Sequence[Entry],
    block: int,
    bench: Bench,
    seed: int,
    part: Slice | None = None,
    *,
    in_slices: bool = False,
) -> list[CellResult]:
    """Measure the arms *entries* at once.

    part: the slice in which the clients of each arm send; None to send as the method says
    in_slices: let the arms take turns in slices of time, which are as long as their requests need
    Later blocks expect longer requests if some turned up: this changes bench.paces.
    """
    start_ns = perf_counter_ns()
    with ExitStack() as stack:
        arms = [stack.enter_context(CellRun(entry, block, bench)) for entry in entries]
        first, *others = [arms[place] for place in block_order(len(arms), block, seed)]
        if entries[0].cell.keep_awake:
            first.do(lambda arm: stack.enter_context(arm.places.kept_awake()))
        _each([first], CellRun.launch, CellRun.connect)
        if others and not bench.places and first.key not in bench.paces:
            _expect_memory(first.memory_bytes() * len(others), len(arms))
        _each(others, CellRun.launch, CellRun.connect)
        # The arm that has the first slice warms up last.
        warmed = [arms[place] for place in block_order(len(arms), 1, seed + block)[::-1]]
        _each(warmed, CellRun.warm_up)
        count = 1
        if in_slices:
            count, part = _sized(warmed, bench)
        _each(arms, CellRun.begin)
        # Timed from here to arm.end: nothing but the turns belongs here.
        with CoreWaitSampler(
            {child: pids for arm in arms for child, pids in arm.waiting_pids.items()}
        ) as cores:
            for turn in range(count):
                for place in block_order(len(arms), turn + 1, seed + block):
                    arms[place].do(CellRun.take_turn, part)
        for arm in arms:
            arm.do(CellRun.end, cores.timelines)
            if known := bench.paces.get(arm.key):
                bench.paces[arm.key] = known.grown(arm.pace, GROWN)
    spent_ns = (perf_counter_ns() - start_ns) // len(arms)
    return [arm.result(spent_ns) for arm in arms]


def _sized(arms: Sequence[CellRun], bench: Bench) -> tuple[int, Slice]:
    """Return how many slices each arm gets, and the slice. An arm whose requests are not yet known
    tries them first, and adds its pace to bench.paces.
    """
    duration_s, paces = bench.method.duration_s, bench.paces
    for arm in arms:
        if arm.key not in paces:
            _try_slices(arm, min(LONGEST_NS, round(duration_s * 1e9 / 2)))
        arm.pace = paces.setdefault(arm.key, arm.pace)
    return size_slices([arm.pace for arm in arms], duration_s)


def _try_slices(arm: CellRun, longest_ns: int) -> None:
    """Let the clients of *arm* send for long enough to see how long its requests take, at most for
    *longest_ns*. This sets the arm's pace.

    Each trial is as long as the pace of the one before demands of a slice.
    """
    length_ns = 0
    wanted_ns = TRIAL_NS
    while (
        length_ns < min(wanted_ns, longest_ns) and wanted_ns <= LONGEST_NS and not arm.has_timed_out
    ):
        length_ns = min(wanted_ns, longest_ns)
        arm.do(CellRun.try_slice, Slice(lead_ns=0, length_ns=length_ns))
        wanted_ns = _wanted_ns([arm.pace])


def size_slices(paces: Sequence[Pace], duration_s: float) -> tuple[int, Slice]:
    """Return how many time slices each arm gets in a block (an even number, or one), and the slice.

    If slices would be too long, each arm has one slice, which is longer than the duration if its
    requests need it.
    paces: of all arms, whose slices are equally long
    """
    wanted_ns, duration_ns = _wanted_ns(paces), round(duration_s * 1e9)
    tail_ns = max(pace.tail_ns for pace in paces)
    cycle_ns = max(pace.cycle_ns for pace in paces)
    count = 2 * (duration_ns // (2 * wanted_ns))
    if len(paces) > 1 and count and wanted_ns <= LONGEST_NS:
        length_ns = duration_ns // count
    else:
        count, length_ns = 1, max(duration_ns, min(MOST_NS, TAILS * tail_ns))
    lead_ns = max(
        round(LEAST_LEAD * length_ns),
        min(LONGEST_LEAD_NS, LEAD_CYCLES * cycle_ns),
        min(MOST_NS, tail_ns),
    )
    # In the first cycle of the lead, the connections begin one after the other (Slice.stagger_ns).
    return count, Slice(lead_ns=cycle_ns + lead_ns, length_ns=length_ns)


def _wanted_ns(paces: Sequence[Pace]) -> int:
    # how long a slice must be for the slowest of the arms
    return max(SHORTEST_NS, *(max(CYCLES * pace.cycle_ns, TAILS * pace.tail_ns) for pace in paces))


def _each(arms: Sequence[CellRun], *steps: Callable[[CellRun], None]) -> None:
    """Call the first function of *steps* for all *arms*, then the next function for all arms, and
    so on.
    """
    for step in steps:
        for arm in arms:
            arm.do(step)


def _expect_memory(needed_bytes: int, arms: int) -> None:
    # None: the free memory is not known, so nothing is refused
    available_bytes = memory_available_bytes()
    if available_bytes is not None and needed_bytes * MEMORY_SPARE > available_bytes:
        raise NotEnoughMemory(
            "measuring {arms} runtimes or services at the same time needs {needed_mib:.0f} MiB "
            "more than measuring one, but only {available_mib:.0f} MiB are free",
            arms=arms,
            needed_mib=needed_bytes * MEMORY_SPARE / 2**20,
            available_mib=available_bytes / 2**20,
        )


# ---- probes of a search for the capacity ---------------------------------------------------------


def size_probe(
    rate: float, closed_rate: float, purpose: str, objectives: Sequence[Objective]
) -> Slice:
    """Return a time slice that is long enough to judge whether a service meets the objectives at a
    request rate.

    If a service only just meets an objective, a fixed number of requests (PROBES) misses the
    objective in this time. Queues that build up slowly do so before the time that counts.
    rate: requests/s of all clients, or 0 for a closed loop. closed_rate: what the closed loop
        reached, in requests/s; 0 if it is not known yet
    purpose: a key of PROBES
    """
    misses, shortest_s = PROBES[purpose]
    if not rate:
        return Slice(lead_ns=round(PROBE_LEAD_S * 1e9), length_ns=round(shortest_s * 1e9))
    wanted_s = max(misses / (rate * objective.share) for objective in objectives)
    limit_s = max(objective.latency_ns for objective in objectives) / 1e9
    relaxed_s = relaxation_s(rate, closed_rate)
    # LONGEST_S limits only the time for enough misses. Latency and queues may need a longer probe.
    length_s = max(
        shortest_s, min(LONGEST_S, wanted_s), PROBE_LATENCIES * limit_s, RELAXATIONS * relaxed_s
    )
    return Slice(
        lead_ns=round(max(PROBE_LEAD_S, limit_s, relaxed_s) * 1e9), length_ns=round(length_s * 1e9)
    )


def search_s(plan: Plan, closed_rate: float) -> float:
    """Return about how long a search takes, in s, if closed loops reach *closed_rate*
    requests/s.
    """
    entries = plan.entries()
    searches = len({entry.arm for entry in entries}) if plan.picks else len(entries)
    counts = {name: count * searches for name, count in TYPICAL.items()}
    if plan.picks:
        counts[PICK] = TYPICAL_PICKS * len(entries)
    total_s = 0.0
    for purpose, count in counts.items():
        rate = 0.0 if purpose == CLOSED else TYPICAL_LOAD * closed_rate
        part = size_probe(rate, closed_rate, purpose, plan.objectives)
        total_s += count * (PROBE_START_S + (part.lead_ns + part.length_ns) / 1e9)
    return total_s
