"""Point (c) of the proof: real A/A on this machine, many times over. How often is a runtime faster than itself?

Usage: python -m benchmarks.method_real [--runtime 3.14t] [--repeats 30] [--blocks 10] [--duration 0.3]

Each repeat measures a small cell of system 2 in blocks, twice a block under two names in random order, and asks for
a verdict as any comparison would. The window is shorter than a verdict otherwise wants, to keep this short.
"""

import argparse
import random
from collections import Counter
from dataclasses import replace

from benchmarks.bench import cell_of, measured, runtime_called
from core.cell import Cell, Value
from core.method import Method, Warmup
from lab.run.measure import Bench
from lab.run.sandbox import Sandbox
from reports.rows.summary import request_ns
from reports.statistics.stats import log_ratios
from reports.statistics.verdict import Verdict, judge_family

SIZE: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 2}
ARMS = ("once", "again")


def main() -> None:
    """Print each verdict, then how many of each there were."""
    given = _arguments()
    method = Method(duration_s=given.duration, warmup=Warmup(share=0.2))
    runtime, cell = runtime_called(given.runtime), cell_of("2", given.runtime, SIZE)
    order, words = random.Random(given.seed), Counter[str]()
    with Sandbox() as sandbox:
        bench = Bench(sandbox=sandbox, runtimes={given.runtime: runtime}, method=method)
        for repeat in range(1, given.repeats + 1):
            verdict = _repeat(cell, bench, given.blocks, order)
            words[verdict.verdict] += 1
            print(f"{repeat:3} {verdict.verdict:12} {_span(verdict)}", flush=True)
    print(f"\n{given.runtime}, {given.repeats} repeats of {given.blocks} blocks: ", end="")
    print(", ".join(f"{count} {word}" for word, count in words.most_common()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", default="3.14t")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--duration", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _repeat(cell: Cell, bench: Bench, blocks: int, order: random.Random) -> Verdict:
    times: dict[str, dict[int, float]] = {arm: {} for arm in ARMS}
    for block in range(blocks):
        for arm in order.sample(ARMS, 2):
            times[arm] |= request_ns([replace(measured(cell, bench), block=block)])
    return judge_family({"aa": log_ratios(times["once"], times["again"])})["aa"]


def _span(verdict: Verdict) -> str:
    if verdict.ratio is None or verdict.low is None or verdict.high is None:
        return str(verdict.why)
    return f"{verdict.ratio:.3f} [{verdict.low:.3f}, {verdict.high:.3f}]  p {verdict.p:.3f}"


if __name__ == "__main__":
    main()
