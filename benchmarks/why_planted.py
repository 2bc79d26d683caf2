"""Measure how often reports name the planted line of each service of tests/why: the table of
docs/measurements/why.md.

Usage: python -m benchmarks.why_planted [--runs N] [--duration S] [--names shared_dict,own_mutex]
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from benchmarks.bench import options, print_table
from tests.why.planted import PLANTED, first, named, profiled


def main() -> None:
    """Print a Markdown table with a line for each service and runtime."""
    given = options(__doc__, names=",".join(PLANTED), runs=10, duration=4.0)
    lines = map(partial(_named, runs=given.runs, duration_s=given.duration), given.names.split(","))
    head = "service | runtime | planted | first | claimed | its share, from run to run"
    print_table(head, chain.from_iterable(lines))


def _named(name: str, runs: int, duration_s: float) -> Iterator[tuple[str, ...]]:
    planted, firsts, waits = PLANTED[name], [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            run = profiled(name, Path(folder), planted.runtimes, duration_s)
        firsts.append(first(run))
        waits.append(named(run))
    for runtime in planted.runtimes:
        came_first = sum(one[runtime] == planted.function for one in firsts)
        claims = [wait for one in waits if (wait := one[runtime])]
        shares = [wait.share.value for wait in claims] or [0.0]
        right = (
            sum(wait.function == planted.function for wait in claims)
            if planted.function
            else runs - len(claims)
        )
        yield (
            name,
            runtime,
            planted.function or "none",
            f"{came_first} of {runs}" if planted.function else "-",
            f"{right} of {runs}",
            f"{min(shares):.0%} to {max(shares):.0%}",
        )


if __name__ == "__main__":
    main()
