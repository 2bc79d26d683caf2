"""Real comparisons on this machine, many times over: in how many is a runtime faster or slower than itself?

Usage: python -m benchmarks.aa_runs FILE [--repeats 100] [--minutes 30] [--runtime 3.14t] [--blocks 12] [--duration 1]
           [--calc-target 1000] [--more 0.05]

Each repeat measures cells of system 4 in blocks, both arms in random order, and asks for a verdict as any comparison
does. FILE keeps a line for each, so that a piece of --minutes goes on where the last one ended; one file for one kind.

--more: how much more the handler of the second arm does. Of `--more 0.05 --calc-target 20000`, where a request is
hardly anything but its handler, 80 % must be found.
"""

import json
import random
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic

from benchmarks.bench import cell_of, measured, opened, options, runtimes
from core.cell import Cell
from core.method import Method, Warmup
from lab.run.cell_run import Bench
from reports.facts.cells import request_ns
from reports.statistics.stats import log_ratios, totals
from reports.statistics.verdict import Verdict, judge_family

SIZE = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 4, "NUM_MULTI_SOCKET": 1}


def main() -> None:
    """Measure what is missing, then print how many verdicts of each kind there are."""
    given = options(
        __doc__,
        "file",
        repeats=100,
        minutes=30.0,
        runtime="3.14t",
        blocks=12,
        duration=1.0,
        calc_target=1000,
        more=0.0,
    )
    kept = Path(given.file)
    lines = kept.read_text().splitlines() if kept.exists() else []
    method = Method(duration_s=given.duration, warmup=Warmup(share=0.1))
    (runtime,), until_s = runtimes(given.runtime), monotonic() + 60 * given.minutes
    arms = [
        cell_of("4", runtime, {**SIZE, "CALC_TARGET": round(given.calc_target * share)})
        for share in (1, 1 + given.more)
    ]
    with opened(runtime, method=method) as bench, kept.open("a") as file:
        while len(lines) < given.repeats and monotonic() < until_s:
            verdict = _repeat(arms, bench, given.blocks, random.Random(len(lines)))
            said = {name: value for name, value in asdict(verdict).items() if name not in ("why", "obstacle")}
            lines.append(json.dumps(said))
            print(lines[-1], file=file, flush=True)
            print(f"{len(lines):3} {lines[-1]}", flush=True)
    words = Counter(json.loads(line)["verdict"] for line in lines)
    print(f"{len(lines)} of {given.repeats}: {', '.join(f'{count} {word}' for word, count in words.most_common())}")


def _repeat(arms: list[Cell], bench: Bench, blocks: int, order: random.Random) -> Verdict:
    times: list[dict[int, float]] = [{}, {}]
    for block in range(blocks):
        for arm in order.sample((0, 1), 2):
            times[arm] |= request_ns([replace(measured(arms[arm], bench), block=block)])
    return judge_family({0: log_ratios(*times)}, totals={0: totals(*times)})[0]


if __name__ == "__main__":
    main()
