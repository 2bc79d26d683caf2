"""Measure the time until 20 services and 20 clients are ready, for each runtime and system.

Usage: python -m benchmarks.start_up [--runtime 3.11,3.14t] [--repeats 5]
"""

from collections.abc import Iterator
from statistics import median

from benchmarks.bench import RUNTIMES, cell_of, measured, opened, options, print_table, runtimes

SIZE = {"NUM_API_SERVICES": 20, "NUM_CLIENTS": 20, "NUM_REQUESTS_PER_CLIENT": 1, "CALC_TARGET": 0}


def main() -> None:
    """Print a Markdown table with the time from spawn to ready and the total time outside of the timed window."""
    given = options(__doc__, runtime=RUNTIMES, repeats=5)
    head = "runtime | system | spawn to all ready s | all around the timed window s"
    print_table(head, _lines(given.runtime, given.repeats))


def _lines(names: str, repeats: int) -> Iterator[tuple[str, ...]]:
    for runtime in runtimes(names):
        with opened(runtime) as bench:
            for system in ("1", "2", "3", "4"):
                results = [measured(cell_of(system, runtime, SIZE), bench) for _ in range(repeats)]
                start_s, around_s = (
                    median(getattr(result, name) for result in results) / 1e9 for name in ("start_ns", "overhead_ns")
                )
                yield str(runtime.name), system, f"{start_s:.2f}", f"{around_s:.2f}"


if __name__ == "__main__":
    main()
