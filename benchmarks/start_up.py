"""How long 20 services and 20 clients take from spawn to all ready, per runtime and system.

Usage: python -m benchmarks.start_up [--runtime 3.11,3.14t] [--repeats 5]
"""

import argparse

from benchmarks.bench import cell_of, measured, middle, opened, runtime_called

SIZE = {"NUM_API_SERVICES": 20, "NUM_CLIENTS": 20, "NUM_REQUESTS_PER_CLIENT": 1, "CALC_TARGET": 0}


def main() -> None:
    """Print a Markdown table. start: spawn to all ready; around: all that is not the timed window."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", default="3.11,3.14t")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print("| runtime | system | spawn to all ready s | all around the timed window s |\n|---|---|---|---|")
    for name in given.runtime.split(","):
        with opened(runtime_called(name)) as bench:
            for system in ("1", "2", "3", "4"):
                results = [measured(cell_of(system, name, SIZE), bench) for _ in range(given.repeats)]
                start = middle([result.start_ns / 1e9 for result in results])
                around = middle([result.overhead_ns / 1e9 for result in results])
                print(f"| {name} | {system} | {start:.2f} | {around:.2f} |", flush=True)


if __name__ == "__main__":
    main()
