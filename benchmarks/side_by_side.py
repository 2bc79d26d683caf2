"""Do arms that live side by side and take turns below a second differ less by chance than cells one after the other?

Usage: python -m benchmarks.side_by_side FILE [--minutes 3.5] [--slot 0.1] [--runtime 3.14t]

A/A of system 4, one service and 4 clients, in blocks of fresh processes: both ways in each, in random order, 1 s of
timed time for an arm. Side by side both arms are up, and the service of the one is stopped (SIGSTOP) while the other's
answers: A B B A. FILE keeps the log-ratios of each block, so that a piece goes on where the last one ended.
"""

import argparse
import json
import os
import random
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from math import log
from pathlib import Path
from statistics import median, stdev
from threading import Barrier, Event, Thread
from time import monotonic, perf_counter

from benchmarks.aa_runs import SIZE
from benchmarks.bench import cell_of, measured, runtime_called
from core.cell import Cell
from core.method import Method, Warmup
from lab.run.measure import Bench
from lab.run.sandbox import Sandbox
from reports.rows.summary import requests_per_s

SECONDS = 1.0


class Turns:
    """Lets the services of two cells answer in turns of *slot_s* seconds, the *first* of them first: A B B A."""

    def __init__(self, slot_s: float, first: int) -> None:
        self.active_s = [0.0, 0.0]
        self._slot_s, self._first = slot_s, first
        self._pids = [0, 0]
        self._ended = Event()
        self._both = Barrier(2, action=self._begin)

    @contextmanager
    def watch(self, arm: int, pid: int) -> Iterator[None]:
        """For the timed window of the cell *arm*, whose service is *pid*; begins when both are warm."""
        self._pids[arm] = pid
        self._both.wait(20)
        try:
            yield
        finally:
            self._ended.set()

    def _begin(self) -> None:
        os.kill(self._pids[1 - self._first], signal.SIGSTOP)
        Thread(target=self._take_turns).start()

    def _take_turns(self) -> None:
        start, active = perf_counter(), self._first
        for change in cycle((True, False)):
            ended = self._ended.wait(max(0.0, start + self._slot_s - perf_counter()))
            if change and not ended:
                os.kill(self._pids[active], signal.SIGSTOP)
                os.kill(self._pids[1 - active], signal.SIGCONT)
            now = perf_counter()
            self.active_s[active] += now - start
            start, active = now, 1 - active if change else active
            if sum(self.active_s) >= 2 * SECONDS or ended:
                break
        for pid in self._pids:
            os.kill(pid, signal.SIGCONT)


def side_by_side(cell: Cell, benches: list[Bench], slot_s: float, first: int) -> float:
    """The log-ratio of both arms' requests/s, of cells that live at the same time."""
    turns = Turns(slot_s, first)
    method = replace(benches[0].method, duration_s=2 * SECONDS)

    def run(arm: int) -> int:
        bench = replace(benches[arm], method=method, watch=lambda pid: turns.watch(arm, pid))
        return measured(cell, bench).answered

    with ThreadPoolExecutor(2) as pool:
        answered = list(pool.map(run, (0, 1)))
    return log(answered[0] / turns.active_s[0]) - log(answered[1] / turns.active_s[1])


def one_by_one(cell: Cell, benches: list[Bench], first: int) -> float:
    """The same of one cell after the other."""
    rates = {arm: requests_per_s(measured(cell, benches[arm])) for arm in (first, 1 - first)}
    return log(rates[0] / rates[1])


def main() -> None:
    """Measure blocks until time is up, then print the scatter of both ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=float, default=3.5)
    parser.add_argument("--slot", type=float, default=0.1)
    parser.add_argument("--runtime", default="3.14t")
    given = parser.parse_args()
    blocks = [json.loads(line) for line in given.file.read_text().splitlines()] if given.file.exists() else []
    cell, until_s = cell_of("4", given.runtime, SIZE), monotonic() + 60 * given.minutes
    method, runtimes = (
        Method(duration_s=SECONDS, warmup=Warmup(share=0.1)),
        {given.runtime: runtime_called(given.runtime)},
    )
    with Sandbox() as one, Sandbox() as other, given.file.open("a") as file:
        benches = [Bench(sandbox=sandbox, runtimes=runtimes, method=method) for sandbox in (one, other)]
        while len(blocks) < 2 or monotonic() < until_s:
            order, block = random.Random(len(blocks)), {}
            for way in order.sample(("apart", "side by side"), 2):
                first, start = order.randrange(2), monotonic()
                x = (
                    one_by_one(cell, benches, first)
                    if way == "apart"
                    else side_by_side(cell, benches, given.slot, first)
                )
                block[way] = {"x": x, "spent_s": monotonic() - start}
            blocks.append(block)
            print(json.dumps(block), file=file, flush=True)
    for way in ("apart", "side by side"):
        xs, spent_s = [block[way]["x"] for block in blocks], median(block[way]["spent_s"] for block in blocks)
        far = median(map(abs, xs)) / 0.6745
        print(
            f"{way}: {len(xs)} blocks, sd of x {stdev(xs):.2%} (median |x| / 0.67: {far:.2%}), {spent_s:.2f} s a block"
        )


if __name__ == "__main__":
    main()
