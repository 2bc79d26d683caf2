"""Measure how often reports name the planted line of each service of tests/why: the table of
docs/measurements/why.md.

Usage: python -m benchmarks.why_planted [--runs N] [--duration S] [--removed] [--names
    shared_dict,own_mutex]

--removed also measures each service without the planted wait, and compares the gain with the
predicted upper bound.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from analysis.formats import percent
from analysis.stats import unpaired_effect
from benchmarks.bench import options, print_table
from reports.document.model import estimate
from reports.sections.lost_time import LOCKS, causes
from reports.view import View
from tests.why.planted import PLANTED, first, named, profiled


def main() -> None:
    """Print a Markdown table with a line for each service and runtime."""
    given = options(__doc__, names=",".join(PLANTED), runs=10, duration=4.0, removed=False)
    names = given.names.split(",")
    if given.removed:
        lines = (
            _removed(name, runtime, given.runs, given.duration)
            for name in names
            for runtime in PLANTED[name].runtimes
        )
        print_table("service | runtime | at most | gained", lines)
    else:
        head = "service | runtime | planted | first | claimed | its share, from run to run"
        print_table(
            head, (line for name in names for line in _named(name, given.runs, given.duration))
        )


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


def _removed(name: str, runtime: str, blocks: int, duration_s: float) -> tuple[str, ...]:
    """Return the predicted upper bound of the gain in throughput, and the gain after removing the
    planted cause.
    """
    times_ns, bounds = [], []
    for removed in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            run = profiled(
                name,
                Path(folder),
                [runtime],
                duration_s,
                "python,locks",
                blocks=blocks,
                removed=removed,
            )
        times_ns.append([cell.wall_ns / cell.answered for cell in run.cells])
        bounds += [
            one.gain for one in causes(View(run)) if one.page == LOCKS and one.gain is not None
        ]
    gained = unpaired_effect(*times_ns).ratio
    bound = percent(max(bounds)) if bounds else "not known"
    gain = replace(gained, value=gained.value - 1, low=gained.low - 1, high=gained.high - 1)
    return name, runtime, bound, estimate(gain, percent)


if __name__ == "__main__":
    main()
