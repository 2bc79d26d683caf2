"""How often the planted line is the first that is named, of each service of tests/why: the table of docs/why.md.

Usage: python -m benchmarks.why_planted [--runs N] [--duration S] [NAME ...]
"""

import argparse
import tempfile
from pathlib import Path

from tests.why.planted import PLANTED, named, profiled


def main() -> None:
    """Print a line of a Markdown table for each service and runtime."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PLANTED))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--duration", type=float, default=2.0)
    given = parser.parse_args()
    print("| service | runtime | line to be named | named first | its share, from run to run |\n|---|---|---|---|---|")
    for name in given.names:
        _measure(name, given.runs, given.duration)


def _measure(name: str, runs: int, duration_s: float) -> None:
    planted = PLANTED[name]
    first: dict[str, list[float]] = {runtime: [] for runtime in planted.runtimes}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            for runtime, wait in named(profiled(name, Path(folder), planted.runtimes, duration_s)).items():
                if (wait.function if wait else "") == planted.function:
                    first[runtime].append(wait.share.value if wait else 0.0)
    for runtime, shares in first.items():
        spread = f"{min(shares):.0%} to {max(shares):.0%}" if shares else "-"
        print(f"| {name} | {runtime} | {planted.function or 'none'} | {len(shares)} of {runs} | {spread} |", flush=True)


if __name__ == "__main__":
    main()
