"""Estimate how long a plan takes, and whether its blocks (repetitions) are enough for a verdict.

The commands run and plan use it, and project.py. Nothing is started or printed. *cores* is the
number of cores that services and clients share. The estimates are rough. They decide what is
printed, whether --budget is refused, and how many runtimes project.py chooses.
"""

import json
from dataclasses import replace
from math import ceil

from analysis.formats import duration
from config.options import Flags
from config.plan_options import MAX_BLOCKS
from config.run_plan import Plan
from core.cell import Cell
from core.messages import NOTHING, OR, BadInput, Message, listed, message, plural
from core.runtime import RuntimeFacts
from lab.run.cell_processes import identity
from lab.run.measure import search_s
from record.saved_plan import Machine, Until
from record.saved_run import CellResult, Run

COUNT_US = 0.025  # time of one iteration of the calc loop on a current core
CELL_OVERHEAD_S = 0.4  # start and stop of a small cell's processes
SERVICE_OVERHEAD_S = 1.0  # of a user's service, which imports its packages
PROCESS_OVERHEAD_S = 0.1  # of each service or client; cores start them in parallel
CONNECTION_S = 0.001  # to open and close a connection, on both sides
# the longest time of a run without --until; the text of UNTIL names it (config/plan_options.py)
DEFAULT_LIMIT_S = 300.0
MINUTES_S = 120.0  # the least time of a search that is shown; duration() gives it in minutes


def with_end(plan: Plan, given: Flags) -> Plan:
    """Return *plan*. If it is that of --system, and no flag in *given* says when it ends, choose
    the end.

    given: unparsed values of flags by Option.name
    With a duration, it ends with a verdict on every comparison of throughput, or after
    DEFAULT_LIMIT_S. With a number of requests, it has as many blocks as these verdicts need.
    """
    is_chosen = given["plan"] or given["experiment"] or given["blocks"] or given["until"]
    fewest = 0 if is_chosen or plan.user_service else fewest_blocks_of(plan)
    if not fewest:
        return plan
    if plan.method.duration_s:
        return replace(plan, until=Until(verdict=True, seconds=DEFAULT_LIMIT_S), blocks=MAX_BLOCKS)
    return replace(plan, blocks=fewest)


def run_time(plan: Plan, cores: int, profiles: int = 0) -> Message:
    """Return how long a run of *plan* takes, or when it ends.

    profiles: number of kinds of profiles, each of which measures every cell once more
    """
    cells = plural("{count} measurement", "{count} measurements", count=len(plan.entries()))
    profile_s = sum(cell_seconds(plan, cell, cores) for cell in plan.cells())
    if not plan.until:
        return message(
            "A run would take about {time}, for {cells} in each of {blocks}.",
            cells=cells,
            blocks=plural("{count} block", "{count} blocks", count=plan.blocks),
            time=duration(plan.blocks * block_seconds(plan, cores) + profiles * profile_s),
        )
    until = plan.until
    ends = {
        message("when every comparison has a verdict"): until.verdict,
        message(
            "when every interval is at most {width:.3g} % wide", width=until.width * 100
        ): until.width,
        message("after {time}", time=duration(until.seconds)): until.seconds,
        message("after {count} blocks", count=plan.blocks): plan.blocks < MAX_BLOCKS,
    }
    return message(
        "A run would end {ends}. A block of {cells} takes roughly {time}.",
        ends=listed([end for end, is_set in ends.items() if is_set], last=OR),
        cells=cells,
        time=duration(block_seconds(plan, cores)),
    )


def search_time(plan: Plan) -> Message:
    """Return how long the search of *plan* for the highest rate takes."""
    fast, slow = (duration(max(MINUTES_S, search_s(plan, rate))) for rate in (1000, 100))
    return message(
        "The search for the capacity with {objectives} takes about {fast} if the services reach "
        "1,000 requests/s, and {slow} if they reach 100 requests/s.",
        objectives=", ".join(one.text for one in plan.objectives),
        fast=fast,
        slow=slow,
    )


def no_verdict(plan: Plan, cores: int, spare: float = 1.0) -> Message:
    """Return that *plan* measures too few blocks for any verdict, or NOTHING if it measures enough.

    spare: how many times the fewest blocks must fit into a limit of time, because the time of a
        block is estimated
    """
    fewest, possible = fewest_blocks_of(plan), blocks_possible(plan, cores)
    if possible >= fewest * (spare if plan.until.seconds else 1):
        return NOTHING
    remedy = message("Give --blocks {fewest}", fewest=fewest)
    if plan.until.seconds:
        minutes = ceil(fewest * spare * block_seconds(plan, cores) / 60)
        remedy = message("Give --until verdict,{minutes}min", minutes=minutes)
    return message(
        "This plan cannot give a verdict: its comparisons need at least {fewest} blocks, but there "
        "will be only {possible}. {remedy}, or compare fewer runtimes or settings.",
        fewest=fewest,
        possible=possible,
        remedy=remedy,
    )


def expect_in_budget(plan: Plan, cores: int) -> None:
    """Raise BadInput if a run with --budget has no time for a choice and its check."""
    from analysis.choice import FEWEST_BLOCKS

    least_s = FEWEST_BLOCKS * block_seconds(plan, cores)
    if plan.halves_settings and least_s > plan.until.seconds:
        raise BadInput(
            "--budget is {budget}, but a choice among {settings} settings takes about {least}. "
            "Give a longer budget, fewer values, or fewer runtimes.",
            budget=duration(plan.until.seconds),
            settings=len({json.dumps(cell.params) for cell in plan.cells()}),
            least=duration(least_s),
        )


def fewest_blocks_of(plan: Plan) -> int:
    """Return the fewest blocks with which a comparison of throughput can get a verdict; 0 if none
    is planned.
    """
    from analysis.pairs import pairs
    from analysis.significance import SHARES, fewest_blocks, fewest_blocks_anytime

    if (
        plan.objectives
        or plan.picks
        or (plan.view and not plan.user_service)
        or any(cell.rate for cell in plan.cells())
    ):
        return 0
    # a run of one block without results, because pairs() needs only the cells
    run = Run(
        run_id="",
        started_at="",
        seed=0,
        command=[],
        plan=plan.saved(),
        machine=Machine(),
        runtimes={name: RuntimeFacts() for name in plan.runtimes},
        cells=[CellResult(**identity(entry, 1), status="ok") for entry in plan.entries()],
    )
    steps = [pair.step.name for pair in pairs(run) if pair.step.name != "aa"]
    judged = {*steps} & {*plan.judged_steps} or {*steps}
    # a larger family makes each comparison need more blocks; throughput has a share of the level
    family = sum(step in judged for step in steps) / SHARES["throughput"]
    least = fewest_blocks_anytime if plan.until.looks else fewest_blocks
    return least(family) if family else 0


def blocks_possible(plan: Plan, cores: int) -> int:
    """Return the largest number of blocks that a run of *plan* can measure on *cores* cores; it is
    an estimate.
    """
    if not plan.until.seconds:
        return plan.blocks
    return min(plan.blocks, ceil(plan.until.seconds / block_seconds(plan, cores)))


def cell_seconds(plan: Plan, cell: Cell, cores: int) -> float:
    """Return the estimated time in seconds to measure *cell*, one setting of *plan*, on *cores*
    cores.

    The time is the start and end of the processes and connections, the warm-up, and the duration or
    else the CPU time of services and clients.
    """
    processes = cell.num_api_services + cell.num_clients
    sockets = cell.num_multi_socket if "NUM_MULTI_SOCKET" in cell.reads else 1
    connections = cell.num_clients * cell.num_api_services * sockets
    request_us = plan.system_of(cell).request_cpu_us + cell.calc_target * COUNT_US
    computing_s = cell.requests * request_us * 1e-6 / min(cores, processes)
    timed_s = plan.method.duration_s or max(computing_s, cell.paced_s)
    warmup = plan.method.warmup
    return (
        timed_s * (1 + warmup.share)
        + warmup.seconds
        + (SERVICE_OVERHEAD_S if plan.user_service else CELL_OVERHEAD_S)
        + processes * PROCESS_OVERHEAD_S / cores
        + connections * CONNECTION_S
    )


def block_seconds(plan: Plan, cores: int) -> float:
    """Return the estimated time of one block (repetition) of *plan* in seconds."""
    return sum(cell_seconds(plan, entry.cell, cores) for entry in plan.entries())
