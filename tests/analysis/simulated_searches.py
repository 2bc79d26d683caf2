"""Searches for the capacity of simulated queues, with the decisions of real searches, against theory.

Usage: python -m tests.analysis.simulated_searches [searches of each queue, default 150]

The queues are M/M/8 with 20 ms and M/M/1 with 1 ms. Requests that are due in the time that counts are awaited.
"""

import heapq
import sys
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from analysis.capacity_model import Crossing
from analysis.capacity_search import capacities, wanted
from benchmarks.bench import print_table
from benchmarks.known_capacities import capacity_of, late_mmc
from core.objective import Objective, Wanted
from lab.run.measure import size_probe
from record.saved_run import CellResult, Run
from tests.analysis.searches import probe_cell, unsearched
from tests.reports.sample import histogram_of

QUEUES = ((8, 0.02), (1, 0.001))  # servers and mean service time in s
LIMITS_MS = (50, 120, 250, 500, 1000)
START_S = 1.5  # of the processes of a probe


def print_simulated(searches: int = 150) -> None:
    """Simulate searches for the capacity of each queue at each objective, and print a table of the results."""
    print_table(
        "queue | theory / saturation [1/s] | found, median | above saturation | within 5 % | interval holds theory | "
        "brackets, of these hold theory | contradictions | width, median | probes | time of an arm [s], median, max",
        (
            simulated_row(Searches(servers, mean_s, limit_ms, searches))
            for servers, mean_s in QUEUES
            for limit_ms in LIMITS_MS
            if late_mmc(1, servers, mean_s, limit_ms / 1e3) < 0.01
        ),
    )


class Searches:
    """Simulated searches for the capacity of an M/M/c queue with an objective for p99, and the truth.

    Their decisions are real, and their requests pass the simulated queue.
    """

    def __init__(self, servers: int, mean_s: float, limit_ms: int, count: int) -> None:
        self.servers, self.mean_s, self.saturation = servers, mean_s, servers / mean_s
        self.order = np.random.default_rng(limit_ms)
        self.truth = capacity_of(lambda rate: late_mmc(rate, servers, mean_s, limit_ms / 1e3), self.saturation)
        self.objective = Objective.parse(f"p99<{limit_ms}ms")
        self.name = f"M/M/{servers}, {mean_s * 1e3:g} ms, {self.objective.text}"
        self.runs = [self._search() for _ in range(count)]
        self.found = [one for run in self.runs for one in capacities(run)]
        self.known = [one.crossing for one in self.found if one.crossing]

    def near(self) -> int:
        """Return how many searches found a capacity within 5 % of the truth."""
        return sum(abs(one.rate / self.truth - 1) < 0.05 for one in self.known)

    def holding(self, some: Sequence[Crossing]) -> int:
        """Return how many of the intervals *some* hold the truth."""
        return sum(one.low <= self.truth <= one.high for one in some)

    def _search(self) -> Run:
        """Return a run with a whole search of one arm."""
        run = unsearched(self.objective, ["3.14t"])
        while asked := wanted(run):
            run.cells += map(self._cell, asked)
        return run

    def _cell(self, one: Wanted) -> CellResult:
        part = size_probe(one.rate, one.closed_rate, one.purpose, [self.objective])
        lead_s, length_s = part.lead_ns / 1e9, part.length_ns / 1e9
        # of a closed loop, whose latencies are not needed
        sent, counted = int(self.order.poisson(self.saturation * length_s)), list[int]()
        if one.rate:
            due_s, taken_s = self._queue(float(one.cell.rate), lead_s + length_s)
            counted = (taken_s[due_s >= lead_s] * 1e9).astype(int).tolist()
            sent = len(counted)
        cell = probe_cell(one, histogram_of(counted), sent, length_s)
        return replace(cell, overhead_ns=part.lead_ns + round(START_S * 1e9))

    def _queue(self, rate: float, span_s: float) -> tuple[Any, Any]:
        """Return when the requests of the queue come, and how long each of them is in it, in s."""
        due_s = np.sort(self.order.uniform(0, span_s, self.order.poisson(rate * span_s)))
        served_s = self.order.exponential(self.mean_s, len(due_s))
        free_s, ends_s = [0.0] * self.servers, []
        for come_s, taken_s in zip(due_s.tolist(), served_s.tolist(), strict=True):
            end_s = max(come_s, free_s[0]) + taken_s
            heapq.heapreplace(free_s, end_s)
            ends_s.append(end_s)
        return due_s, np.array(ends_s) - due_s


def simulated_row(of: Searches) -> list[str]:
    """Return the row of the table for an M/M/c queue and an objective for p99."""
    brackets = [one for one in of.known if one.is_bracket]
    times_s = sorted(sum(cell.wall_ns + cell.overhead_ns for cell in run.cells) / 1e9 for run in of.runs)
    return [
        of.name,
        f"{of.truth:.1f} / {of.saturation:g}",
        f"{median(one.rate for one in of.known) / of.truth:.3f} x theory",
        f"{sum(one.rate > of.saturation for one in of.known)}",
        f"{of.near()} of {len(of.runs)}",
        f"{of.holding(of.known)} of {len(of.runs)}",
        f"{len(brackets)}, {of.holding(brackets)}",
        f"{sum(one.contradicting is not None for one in of.known)}",
        f"{median(one.width for one in of.known):.2f}",
        f"{median(len(one.probes) for one in of.found):g}",
        f"{median(times_s):.0f}, {times_s[-1]:.0f}",
    ]


if __name__ == "__main__":
    print_simulated(*map(int, sys.argv[1:]))
