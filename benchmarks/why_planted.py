"""How often the planted line comes first, and is claimed, of each service of tests/why: the table of docs/why.md.

Usage: python -m benchmarks.why_planted [--runs N] [--duration S] [--removed] [NAME ...]

--removed measures each service without what is planted, too: what that gains, and how much it could gain at most.
"""

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from reports.document.model import estimate
from reports.document.values import percent
from reports.facts.causes import LockWait, most
from reports.statistics.stats import unpaired_effect
from reports.topics.advice import facts
from reports.view import View
from tests.why.planted import PLANTED, first, named, profiled


def main() -> None:
    """Print a line of a Markdown table for each service and runtime."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(PLANTED))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--duration", type=float, default=4.0)
    parser.add_argument("--removed", action="store_true")
    given = parser.parse_args()
    if given.removed:
        print("| service | runtime | at most | gained |\n|---|---|---|---|")
        for name in given.names:
            for runtime in PLANTED[name].runtimes:
                _remove(name, runtime, given.runs, given.duration)
        return
    print("| service | runtime | planted | first | claimed | its share, from run to run |\n|---|---|---|---|---|---|")
    for name in given.names:
        _measure(name, given.runs, given.duration)


def _measure(name: str, runs: int, duration_s: float) -> None:
    planted = PLANTED[name]
    firsts: dict[str, list[str]] = {runtime: [] for runtime in planted.runtimes}
    claims: dict[str, list[str]] = {runtime: [] for runtime in planted.runtimes}
    shares: dict[str, list[float]] = {runtime: [0.0] for runtime in planted.runtimes}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            run = profiled(name, Path(folder), planted.runtimes, duration_s)
        for runtime, wait in named(run).items():
            firsts[runtime].append(first(run)[runtime])
            claims[runtime].append(wait.function if wait else "")
            shares[runtime] += [wait.share.value] if wait else []
    for runtime in planted.runtimes:
        came_first = f"{firsts[runtime].count(planted.function)} of {runs}" if planted.function else "-"
        spread = f"{min(shares[runtime][1:], default=0):.0%} to {max(shares[runtime]):.0%}"
        claimed = f"{claims[runtime].count(planted.function)} of {runs}"
        print(
            f"| {name} | {runtime} | {planted.function or 'none'} | {came_first} | {claimed} | {spread} |", flush=True
        )


def _remove(name: str, runtime: str, blocks: int, duration_s: float) -> None:
    """Print how much the planted cause could gain at most, in percent more throughput, and what its removal gained."""
    rates, bounds = [], []
    for removed in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            run = profiled(name, Path(folder), [runtime], duration_s, "python,locks", blocks=blocks, removed=removed)
        rates.append([cell.answered / cell.wall_ns for cell in run.cells])
        waits = (fact for fact in facts(View(run)) if isinstance(fact, LockWait))
        bounds += [fact.bound.throughput for fact in waits if fact.bound and fact.bound.throughput]
    gained = unpaired_effect(*([1 / rate for rate in of_one] for of_one in rates)).ratio
    bound = estimate(max(bounds, key=most), percent) if bounds else "not known"
    gain = replace(gained, value=gained.value - 1, low=gained.low - 1, high=gained.high - 1)
    print(f"| {name} | {runtime} | {bound} | {estimate(gain, percent)} |", flush=True)


if __name__ == "__main__":
    main()
