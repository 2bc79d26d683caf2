"""Real comparisons on this machine, many times over: of a runtime with itself, how often is it faster or slower?

Usage: python -m benchmarks.aa_runs FILE [--repeats 100] [--minutes 30] [--runtime 3.14t] [--blocks 12] [--duration 1]

Each repeat measures cells of system 4 in blocks, both arms in random order, and asks for a verdict as any comparison
does. FILE keeps a line for each, so that a piece of --minutes goes on where the last one ended; one file for one kind.
"""

import argparse
import json
import random
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic

from benchmarks.bench import cell_of, measured, runtime_called
from core.cell import Cell, Value
from core.method import Method, Warmup
from lab.run.measure import Bench
from lab.run.sandbox import Sandbox
from reports.facts.cells import request_ns
from reports.statistics.stats import log_ratios, totals
from reports.statistics.verdict import Verdict, judge_family

SIZE: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 4, "NUM_MULTI_SOCKET": 1}


def main(more: float = 0.0, calc_target: int = 1000) -> None:
    """Measure what is missing, then print how many verdicts of each kind there are. more: work of the second arm."""
    given = _arguments()
    lines = given.file.read_text().splitlines() if given.file.exists() else []
    method = Method(duration_s=given.duration, warmup=Warmup(share=0.1))
    runtime, until_s = runtime_called(given.runtime), monotonic() + 60 * given.minutes
    arms = [
        cell_of("4", given.runtime, {**SIZE, "CALC_TARGET": target})
        for target in (calc_target, round(calc_target * (1 + more)))
    ]
    with Sandbox() as sandbox, given.file.open("a") as file:
        bench = Bench(sandbox=sandbox, runtimes={given.runtime: runtime}, method=method)
        while len(lines) < given.repeats and monotonic() < until_s:
            verdict = _repeat(arms, bench, given.blocks, random.Random(len(lines)))
            said = {name: value for name, value in asdict(verdict).items() if name not in ("why", "obstacle")}
            lines.append(json.dumps(said))
            print(lines[-1], file=file, flush=True)
            print(f"{len(lines):3} {lines[-1]}", flush=True)
    words = Counter(json.loads(line)["verdict"] for line in lines)
    print(f"{len(lines)} of {given.repeats}: {', '.join(f'{count} {word}' for word, count in words.most_common())}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--runtime", default="3.14t")
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--duration", type=float, default=1.0, help="seconds of a cell")
    return parser.parse_args()


def _repeat(arms: list[Cell], bench: Bench, blocks: int, order: random.Random) -> Verdict:
    times: list[dict[int, float]] = [{}, {}]
    for block in range(blocks):
        for arm in order.sample((0, 1), 2):
            times[arm] |= request_ns([replace(measured(arms[arm], bench), block=block)])
    return judge_family({0: log_ratios(*times)}, totals={0: totals(*times)})[0]


if __name__ == "__main__":
    main()
