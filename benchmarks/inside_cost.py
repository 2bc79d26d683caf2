"""Measure how instrumentation inside a service affects its throughput, in alternating pairs of cells.

Usage: python -m benchmarks.inside_cost [--part pauses|stacks|locks] [--runtime 3.11,3.14,3.14t] [--pairs 25]

The benchmark measures system 2 with one service of 8 workers. The ratio is the throughput with a part over the
throughput without: the median of the pairs with its 95 % interval. 0.995 is a cost of 0.5 %, which only a quiet machine
can show. The part `locks` is --profile locks, which observes the service from outside.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from benchmarks.bench import cell_of, in_turns, measured, opened, options, print_table, ratio, runtimes
from lab.profile.locks import record_locks
from reports.facts.figures import requests_per_s

SIZE = {
    "NUM_API_SERVICES": 1,
    "NUM_WORKERS_PER_API_SERVICE": 8,
    "NUM_CLIENTS": 4,
    "NUM_REQUESTS_PER_CLIENT": 10_000,
}


def main() -> None:
    """Print a Markdown table, a line for each runtime."""
    given = options(__doc__, part="pauses", runtime="3.11,3.14,3.14t", pairs=25)
    print_table("runtime | with / without [95 %]", _lines(given.runtime, given.part, given.pairs))


def _lines(names: str, part: str, pairs: int) -> Iterator[tuple[str, str]]:
    for runtime in runtimes(names):
        cell = cell_of("2", runtime, SIZE)
        with opened(runtime, inside={}) as plain:
            watched = replace(plain, watch=record_locks) if part == "locks" else replace(plain, inside={part: {}})
            measures = {name: partial(measured, cell, bench) for name, bench in (("with", watched), ("without", plain))}
            rates = {name: [*map(requests_per_s, some)] for name, some in in_turns(pairs, measures).items()}
        yield str(runtime.name), ratio(rates["with"], rates["without"], "{:.4f}".format)


if __name__ == "__main__":
    main()
