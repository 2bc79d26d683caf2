"""About how long a plan takes, before anything runs: a rough guess, good for choosing a size."""

from config.plan import Plan
from core.cell import Cell
from systems import find

COUNT_US = 0.025  # one turn of the calc loop on a current core
CELL_OVERHEAD_S = 0.4  # start and stop of a small cell's processes
PROCESS_OVERHEAD_S = 0.03


def cell_seconds(cell: Cell, cores: int) -> float:
    """Seconds that one cell takes on *cores* cores: CPU time of both sides, and starting its processes."""
    request_us = find(cell.system).request_cpu_us + cell.calc_target * COUNT_US
    processes = cell.num_api_services + cell.num_clients
    starting_s = CELL_OVERHEAD_S + processes * PROCESS_OVERHEAD_S / cores
    return cell.requests * request_us * 1e-6 / min(cores, processes) + starting_s


def plan_seconds(plan: Plan, cores: int) -> float:
    """Seconds that all blocks take, without the report."""
    return plan.blocks * sum(cell_seconds(cell, cores) for cell in plan.cells())
