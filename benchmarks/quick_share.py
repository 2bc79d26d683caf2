"""Which share of a saved run's wall time was timed cells, and where the rest went.

Usage: python -m benchmarks.quick_share RUN...
"""

import sys
from pathlib import Path

from core.result import load


def main() -> None:
    """Print a Markdown table, in seconds."""
    print("| run | whole | timed cells | spawn, stop, save | report | share that is not timed |")
    print("|---|---|---|---|---|---|")
    for argument in sys.argv[1:]:
        run = load(Path(argument))
        timed = sum(cell.wall_ns for cell in run.cells) / 1e9
        cells, report = run.spent_ns["cells"] / 1e9, run.spent_ns.get("report", 0) / 1e9
        whole = cells + report
        row = [f"{value:.1f}" for value in (whole, timed, cells - timed, report)]
        print(f"| {run.run_id} | {' | '.join(row)} | {1 - timed / whole:.0%} |")


if __name__ == "__main__":
    main()
