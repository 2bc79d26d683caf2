"""Details of a comparison besides its ratio: factors of the ratio, capacity, latency percentiles, noise."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import exp, isfinite, log
from statistics import median
from typing import Any

import numpy as np

from core.result import CellResult, Run
from core.runtime import NATIVE
from core.system import CLIENT, SERVICE
from reports.facts.figures import FIGURES, cpu_ns, per_request, requests_per_s
from reports.facts.gates import MOST_SATURATION, median_saturation
from reports.facts.hosts import cores_of, have_cores_of_their_own
from reports.facts.measures import is_open
from reports.facts.pairs import Pair
from reports.statistics.inside import noise_of
from reports.statistics.stats import FEWEST_FOR_INTERVAL, Estimate, Floats, effect
from reports.statistics.verdict import judge_family

PERCENTILES = {one.percentile: one.read for one in FIGURES if one.percentile}
OF_TAIL = ("ratio", "low", "high", "p", "verdict")
SIDES = {"both": ("services", "clients"), "service": ("services",), "client": ("clients",)}
LEAST_BUSY = 0.9
THREADS = "NUM_WORKERS_PER_API_SERVICE"
FEWEST_SLICES = 4
PARTS = 4  # into which a cell is divided to estimate its noise


def _interval(seen: Estimate, name: str = "ratio", moved: float = 0.0) -> dict[str, float | None]:
    """Convert an estimate of a logarithm to one of the value itself, with its interval, as JSON.

    moved: added to its value; the interval is widened to hold the sum
    """
    value = seen.value + moved
    low, high = (exp(end) if isfinite(end) else None for end in (min(seen.low, value), max(seen.high, value)))
    return {name: exp(value), "low": low, "high": high}


# ---- factors -------------------------------------------------------------------------------------------------------


def factors(pair: Pair) -> dict[str, Any]:
    """Split the throughput ratio into two factors: the cores in use, and the CPU time per request.

    The factors are given for all processes, and for only the services and only the clients.
    cores_used:      ratio of the cores in use
    cpu_per_request: inverted ratio of CPU time per request; above 1, a request takes less CPU time
    Each is {ratio, low, high}. The result is empty if any cell does not report its CPU time.
    """
    made: dict[str, Any] = {}
    for side, kinds in SIDES.items():
        cpu = pair.log_ratios(partial(_cpu_ns, kinds))
        if cpu.keys() != pair.ratios.keys():
            return {}
        cores = {block: ratio - cpu[block] for block, ratio in pair.ratios.items()}
        seen = {"cores_used": effect([*cores.values()]), "cpu_per_request": effect([*cpu.values()])}
        rest = effect([*pair.ratios.values()]).value - sum(estimate.value for estimate in seen.values())
        # two medians need not add up to the median of the sum, so each factor takes half of the rest
        made[side] = {name: _interval(estimate, moved=rest / 2) for name, estimate in seen.items()}
    return {**made.pop("both"), **made}


def _cpu_ns(kinds: Sequence[str], cell: CellResult) -> float | None:
    """Return the CPU time per request of services, clients or both, in ns; None if unknown."""
    spent = [cpu_ns(getattr(cell, kind)) for kind in kinds]
    return per_request(sum(ns or 0 for ns in spent), cell) if all(spent) else None


# ---- capacity ------------------------------------------------------------------------------------------------------


def capacity(pair: Pair, run: Run) -> dict[str, Any]:
    """Return how many requests/s each runtime's services could serve if the clients took no CPU time from them.

    The result also has the number of cores that the services can use, and the ratio of the two capacities.
    measured: True if native clients on cores of their own were not the bottleneck; capacity is then the throughput.
        Else capacity is an estimate: the requests that the services' cores could serve at the measured CPU time per
        request, and at least the measured throughput
    Empty for several settings, for unknown cores or CPU time, and if an arm left some of its cores idle, because
    something else then limits the arm.
    """
    if pair.over or not pair.ratios:
        return {}
    measured = _is_measured(pair, run)
    made: dict[str, Any] = {"measured": measured}
    logs: list[list[float]] = []
    for side, by_block in pair.arms.items():
        cells = [by_block[block] for block in pair.ratios]
        known = [(_cores(cell, run), cpu_ns(cell.services), requests_per_s(cell), cell.answered) for cell in cells]
        if not all(all(values) for values in known) or (not measured and _leaves_cores_idle(cells, run)):
            return {}
        logs.append(
            [
                log(served_per_s if measured else max(served_per_s, cores * answered * 1e9 / (spent_ns or 1)))
                for cores, spent_ns, served_per_s, answered in known
            ]
        )
        made[side] = {"cores": max(cores for cores, *_ in known), **_interval(effect(logs[-1]), "requests_per_s")}
    return {**made, **_interval(effect(np.subtract(logs[1], logs[0])))}


def _is_measured(pair: Pair, run: Run) -> bool:
    if not have_cores_of_their_own(run) or is_open(pair.params):
        return False
    used = median_saturation(pair.cells, run)
    return used is not None and used <= MOST_SATURATION and all(cell.client_runtime == NATIVE for cell in pair.cells)


def _leaves_cores_idle(cells: Sequence[CellResult], run: Run) -> bool:
    """Return whether the services used less than 90 % of the cores that the clients left to them."""
    busy = []
    for cell in cells:
        services, clients = ((cpu_ns(side) or 0) / max(1, cell.wall_ns) for side in (cell.services, cell.clients))
        left = min(_cores(cell, run), cores_of(run, SERVICE, CLIENT) - clients)
        busy.append(services / left if left > 0 else 1.0)
    return median(busy) < LEAST_BUSY


def _cores(cell: CellResult, run: Run) -> int:
    """Return how many cores the services can use; 0 if unknown.

    A process with the GIL can use one core. A process without the GIL can use one core for each worker thread. Our own
    services without worker threads have one event loop; the threads of a user's service are unknown.
    """
    cores = cores_of(run, SERVICE)
    has_gil = any(service.get("gil_enabled_end", True) for service in cell.services)
    threads = 1 if has_gil else cell.params.get(THREADS, cores if "own" in run.plan else 1)
    return min(cores, int(cell.params.get("NUM_API_SERVICES") or 1) * int(threads or 1))


# ---- latency and noise ---------------------------------------------------------------------------------------------


def tails(pairs: Mapping[int, Pair], **method: Any) -> dict[int, dict[str, Any]]:
    """Compare the latency percentiles of the two runtimes or services in each pair.

    Returns {percentile: {ratio, low, high, p, verdict}} for each pair that has any. A ratio above 1 means less latency.
    The p values are corrected for all percentiles of all pairs together. A percentile is missing if the cells have too
    few requests (reports.facts.figures.FEWEST).
    method: the arguments margin, anytime and seed of judge_family()
    """
    ratios = {
        (place, name): logs
        for place, pair in pairs.items()
        for name, read in PERCENTILES.items()
        if not pair.gate and (logs := pair.log_ratios(read))
    }
    found: dict[int, dict[str, Any]] = {}
    for (place, name), verdict in judge_family(ratios, **method).items():
        found.setdefault(place, {})[name] = {key: getattr(verdict, key) for key in OF_TAIL}
    return found


def whole_slices(cells: Sequence[CellResult]) -> tuple[Floats, float] | None:
    """Return the number of answers in each complete time slice of each measurement, and the slices' width in s.

    For a cell whose arm took turns with others, a slice is one turn.
    None if a cell has no slices, slices of another width, or fewer than 4 complete slices.
    """
    known = [_counts(cell) for cell in cells]
    widths = {width_ns for width_ns, _ in known}
    count = min((len(counts) for _, counts in known), default=0)
    if count < FEWEST_SLICES or len(widths) > 1:
        return None
    rates = np.array([counts[:count] for _, counts in known], dtype=np.float64)
    return (rates, widths.pop() / 1e9) if rates.sum(axis=1).all() else None


def _counts(cell: CellResult) -> tuple[int, Sequence[int]]:
    """Return the width of a cell's slices of time in ns, and the answers in each complete slice."""
    if cell.turns.get("slices", 1) > 1:
        return cell.turns["length_ns"], cell.turns["answered"]
    return cell.slices.get("width_ns", 0), cell.slices.get("counts", ())[1:-1]


def noise(pair: Pair) -> dict[str, float]:
    """Return the noise of the throughput ratio of *pair* at one setting, as the fields of class Noise.

    Empty if there are too few blocks or slices, or if requests came at a RATE.
    """
    if pair.over or pair.gate or is_open(pair.params) or len(pair.ratios) < FEWEST_FOR_INTERVAL:
        return {}
    sides = [whole_slices([cells[block] for block in pair.ratios]) for cells in pair.arms.values()]
    with np.errstate(divide="ignore"):
        logs = [
            np.log([part.mean(axis=1) for part in np.array_split(side[0], PARTS, axis=1)]).T for side in sides if side
        ]
    if len(logs) < len(sides) or not np.isfinite(logs).all():
        return {}
    return asdict(noise_of(logs[1] - logs[0], median(cell.wall_ns for cell in pair.cells) / 1e9))
