"""How often the planted line comes first, and is claimed, of each service of tests/why: the table of docs/why.md.

Usage: python -m benchmarks.why_planted [--runs N] [--duration S] [NAME ...]
"""

import argparse
import tempfile
from pathlib import Path

from tests.why.planted import PLANTED, first, named, profiled


def main() -> None:
    """Print a line of a Markdown table for each service and runtime."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(PLANTED))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--duration", type=float, default=4.0)
    given = parser.parse_args()
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


if __name__ == "__main__":
    main()
