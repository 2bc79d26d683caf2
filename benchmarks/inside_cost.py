"""What the parts inside a service cost it: alternating pairs of cells with a part and without any, in throughput.

Usage: python -m benchmarks.inside_cost [--part pauses|locks] [--runtime 3.11,3.14,3.14t] [--pairs 25]

System 2 with one service of 8 workers, called for so many requests; the ratio is with over without, the median of the
pairs with its 95 % interval. 0.995 is a cost of 0.5 %. The part `locks` stands for --profile locks, which watches from
outside. Only a quiet machine can show as little.
"""

import argparse
from dataclasses import replace
from math import exp, log

from benchmarks.bench import cell_of, measured, opened, runtime_called
from core.cell import Cell
from lab.profile.locks import LockRecording
from lab.run.measure import Bench
from lab.run.runtimes import Runtime
from reports.facts.figures import requests_per_s
from reports.statistics.stats import Estimate, effect

SIZE = {
    "NUM_API_SERVICES": 1,
    "NUM_WORKERS_PER_API_SERVICE": 8,
    "NUM_CLIENTS": 4,
    "NUM_REQUESTS_PER_CLIENT": 10_000,
}


def main() -> None:
    """Print a Markdown table, a line for each runtime."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="pauses")
    parser.add_argument("--runtime", default="3.11,3.14,3.14t")
    parser.add_argument("--pairs", type=int, default=25)
    given = parser.parse_args()
    print("| runtime | with / without | 95 % |\n|---|---|---|")
    for name in given.runtime.split(","):
        ratio = _ratio(runtime_called(name), given.part, given.pairs)
        print(f"| {name} | {exp(ratio.value):.4f} | {exp(ratio.low):.4f} to {exp(ratio.high):.4f} |", flush=True)


def _ratio(runtime: Runtime, part: str, pairs: int) -> Estimate:
    cell = cell_of("2", str(runtime.name), SIZE)
    with opened(runtime) as bench:
        without = replace(bench, inside={})
        watched = replace(without, watch=LockRecording) if part == "locks" else replace(bench, inside={part: {}})
        benches = watched, without
        return effect([_log_ratio(cell, *benches, first=number % 2) for number in range(pairs)])


def _log_ratio(cell: Cell, *benches: Bench, first: int) -> float:
    """ln(requests/s with / without), the one of place *first* measured first."""
    rates = {place: requests_per_s(measured(cell, benches[place])) for place in (first, 1 - first)}
    return log(rates[0] / rates[1])


if __name__ == "__main__":
    main()
