"""About how long a plan takes, before anything runs: a rough guess, good for choosing a size."""

from config.plan import Plan
from core.cell import Cell
from core.system import System

COUNT_US = 0.025  # one turn of the calc loop on a current core
CELL_OVERHEAD_S = 0.4  # start and stop of a small cell's processes
PROCESS_OVERHEAD_S = 0.03


def cell_seconds(cell: Cell, system: System, cores: int, duration_s: float = 0.0) -> float:
    """Seconds that one cell of *system* takes on *cores* cores: CPU time of both sides (or *duration_s*), and start."""
    if duration_s:
        return duration_s + _starting_s(cell, cores)
    request_us = system.request_cpu_us + cell.calc_target * COUNT_US
    processes = cell.num_api_services + cell.num_clients
    return max(cell.requests * request_us * 1e-6 / min(cores, processes), cell.paced_s) + _starting_s(cell, cores)


def _starting_s(cell: Cell, cores: int) -> float:
    return CELL_OVERHEAD_S + (cell.num_api_services + cell.num_clients) * PROCESS_OVERHEAD_S / cores


def plan_seconds(plan: Plan, cores: int) -> float:
    """Seconds that all blocks take, without the report."""
    duration_s = plan.method.duration_s
    block_s = sum(cell_seconds(entry.cell, entry.system, cores, duration_s) for entry in plan.entries())
    return min(plan.blocks * block_s, plan.until.seconds or float("inf"))
