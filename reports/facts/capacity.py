"""What a service could serve by itself, were its clients elsewhere: measured where they were, else estimated. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, isfinite, log
from statistics import median
from typing import Any

from core.result import CellResult, Run
from core.runtime import NATIVE
from core.system import CLIENT, SERVICE
from reports.facts.figures import cpu_ns, requests_per_s
from reports.facts.gates import MOST_SATURATION, median_saturation
from reports.facts.hosts import cores_of, have_cores_of_their_own
from reports.facts.loops import is_open
from reports.facts.pairs import Pair
from reports.statistics.stats import effect

LEAST_BUSY = 0.9
THREADS = "NUM_WORKERS_PER_API_SERVICE"


def capacity(pair: Pair, run: Run) -> dict[str, Any]:
    """requests_per_s of each arm's services alone and their ratio, each with low and high; cores that they may use.

    measured: the throughput, where native clients on cores of their own were not the bottleneck. Else it is what those
    cores would serve if a request took the CPU time on them that it took here, and at least what was served here.
    Empty over several settings, where machine or cells do not report cores and CPU time, and where an arm left cores
    idle that it had: something else holds it up, and more cores would not help.
    """
    measured = not pair.over and _is_measured(pair, run)
    arms = {
        side: _arm({block: cells[block] for block in pair.ratios}, run, measured=measured)
        for side, cells in (("denominator", pair.denominator), ("numerator", pair.numerator))
        if not pair.over
    }
    if not pair.ratios or not all(arms.values()) or not arms:
        return {}
    before, after = ([logs for _, logs in arm] for arm in arms.values())
    ratios = [there - here for here, there in zip(before, after, strict=True)]
    each = {
        side: {"cores": max(cores for cores, _ in arm), **_spread([logs for _, logs in arm], "requests_per_s")}
        for side, arm in arms.items()
    }
    return {"measured": measured, **each, **_spread(ratios, "ratio")}


def _is_measured(pair: Pair, run: Run) -> bool:
    if not have_cores_of_their_own(run) or is_open(pair.params):
        return False
    used = median_saturation(pair.cells, run)
    return used is not None and used <= MOST_SATURATION and all(cell.client_runtime == NATIVE for cell in pair.cells)


def _arm(cells: Mapping[int, CellResult], run: Run, *, measured: bool) -> list[tuple[int, float]]:
    """Cores and log of requests/s by block; empty where one is not known."""
    known = []
    if not measured and _leaves_cores_idle(cells.values(), run):
        return []
    for cell in cells.values():
        cores, spent_ns, served_per_s = _cores(cell, run), cpu_ns(cell.services), requests_per_s(cell)
        if not cores or not spent_ns or not served_per_s:
            return []
        alone_per_s = max(served_per_s, cores * cell.answered * 1e9 / spent_ns)
        known.append((cores, log(served_per_s if measured else alone_per_s)))
    return known


def _leaves_cores_idle(cells: Iterable[CellResult], run: Run) -> bool:
    """Whether the services used less than nine tenths of the cores that they can use and clients left them."""
    busy = []
    for cell in cells:
        everywhere = cores_of(run, SERVICE, CLIENT)
        left = min(_cores(cell, run), everywhere - (cpu_ns(cell.clients) or 0) / max(1, cell.wall_ns))
        busy.append((cpu_ns(cell.services) or 0) / max(1, cell.wall_ns) / left if left > 0 else 1.0)
    return bool(busy) and median(busy) < LEAST_BUSY


def _cores(cell: CellResult, run: Run) -> int:
    """Cores that the services can use: under a GIL one a process, else one a worker thread; 0 if not known.

    A service of ours without worker threads has one event loop; of a user's nobody knows how many threads it has.
    """
    cores = cores_of(run, SERVICE)
    has_gil = any(service.get("gil_enabled_end", True) for service in cell.services)
    threads = 1 if has_gil else cell.params.get(THREADS, cores if "own" in run.plan else 1)
    return min(cores, int(cell.params.get("NUM_API_SERVICES") or 1) * int(threads or 1))


def _spread(logs: Sequence[float], name: str) -> dict[str, float | None]:
    seen = effect(logs)
    low, high = (exp(end) if isfinite(end) else None for end in (seen.low, seen.high))
    return {name: exp(seen.value), "low": low, "high": high}
