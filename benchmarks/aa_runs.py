"""Repeat real A/A comparisons on this machine, and count how often a service is faster or slower than itself.

Usage: python -m benchmarks.aa_runs [--repeats 100] [--runtime 3.14t] [--blocks 8] [--duration 1] [--work-us 2000]
           [--more 0.05] [--until-s 0]

Each repeat measures a WSGI application on gunicorn (8 threads, 16 connections) under two names. The arms alternate in
slices of time, and are judged like any comparison. The benchmark prints a line of JSON for each repeat.

--more: how much more work the second arm's handler does
--until-s: add blocks until there is a verdict by the e-process of `--until verdict`, or this many seconds have passed.
With --more 0.05 --until-s 60, nine of ten comparisons must find the difference.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from benchmarks.bench import gunicorn_service, opened, options, runtimes
from config.plan import Entry
from config.user_service.plan import METHOD, user_service_plan
from core.method import Method
from lab.run.cell_run import Bench
from lab.run.measure import measure_in_slices
from reports.facts.cells import request_ns
from reports.statistics.significance import Looks
from reports.statistics.stats import log_ratios, totals
from reports.statistics.verdict import Verdict, judge_family

APP = """import os, time
WORK_S = float(os.environ["WORK_US"]) / 1e6
def app(environ, start_response):
    until = time.thread_time() + WORK_S
    while time.thread_time() < until:
        pass
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


def main() -> None:
    """Measure the repeats, then print the number of verdicts of each kind."""
    given = options(
        __doc__, repeats=100, runtime="3.14t", blocks=8, duration=1.0, work_us=2000.0, more=0.0, until_s=0.0
    )
    (runtime,), words = runtimes(given.runtime), Counter[str]()
    method = Method(**{**vars(METHOD), "duration_s": given.duration, "slices": True})
    with gunicorn_service(APP) as (folder, service), opened(runtime, method=method) as bench:
        entries = [
            _entry(name, {**service, "environment": {"WORK_US": str(work_us)}}, given.runtime, folder)
            for name, work_us in (("plain", given.work_us), ("other", given.work_us * (1 + given.more)))
        ]
        for repeat in range(given.repeats):
            start_s = monotonic()
            verdict, blocks = _repeat(entries, bench, given, repeat)
            words[verdict.verdict] += 1
            said = {"verdict": verdict.verdict, "ratio": verdict.ratio, "low": verdict.low, "high": verdict.high}
            print(json.dumps({**said, "blocks": blocks, "seconds": round(monotonic() - start_s, 1)}), flush=True)
    print(", ".join(f"{count} {word}" for word, count in words.most_common()))


def _entry(name: str, service: dict[str, Any], runtime: str, folder: Path) -> Entry:
    """Return an arm with the application, as the plan's fields *service* describe it."""
    plan = user_service_plan(service, folder)
    (cell,) = (cell for cell in plan.cells() if cell.runtime == runtime)
    return Entry(arm=name, cell=cell, system=plan.systems[cell.system])


def _repeat(entries: Sequence[Entry], bench: Bench, given: Any, seed: int) -> tuple[Verdict, int]:
    """Measure one repeat, and return its verdict and its number of blocks."""
    times: list[dict[int, float]] = [{}, {}]
    anytime, start_s, block, verdict = bool(given.until_s), monotonic(), 0, None
    while verdict is None or (
        monotonic() - start_s < given.until_s and verdict.verdict == "inconclusive" if anytime else block < given.blocks
    ):
        block += 1
        for arm, result in enumerate(measure_in_slices(entries, block, bench, seed)):
            times[arm] |= request_ns([result])
        verdict = judge_family({0: log_ratios(*times)}, totals={0: totals(*times)}, looks=Looks(is_anytime=anytime))[0]
    return verdict, block


if __name__ == "__main__":
    main()
