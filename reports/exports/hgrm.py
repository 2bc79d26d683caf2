"""Latencies as HdrHistogram's percentile files (.hgrm), which its plotters open: one file for each row of the table.

Source of the format and of the steps: HdrHistogram (G. Tene), AbstractHistogram.outputPercentileDistribution and
PercentileIterator, with 5 ticks for each halving of the distance to 100 %.
"""

import re
from collections.abc import Iterator, Sequence
from math import floor, log2
from pathlib import Path

from core.errors import BadInput
from core.histogram import SUB_BITS, Histogram, bounds_ns
from core.messages import message
from reports.exports.writing import Exported, written
from reports.facts.cells import Row
from reports.facts.curves import deviation_ns
from reports.facts.settings import value_text, varying
from reports.view import View

TICKS_PER_HALVING = 5
NS_PER_US = 1000
SUB_BUCKETS = 1 << (SUB_BITS + 1)
LARGEST_BITS = 42
HEAD = f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}\n\n"


def export(view: View, to: Path) -> Exported:
    """Write a file for each row that has latencies into the folder *to*; all blocks together, in us.

    Raises BadInput if there is no latency, or nowhere to write.
    """
    names = varying(view.rows)
    timed = [row for row in view.rows if row.latency.count]
    if not timed:
        raise BadInput("Run {run} has no latencies, so there is nothing to export.", run=view.run.run_id)
    texts = {to / file_name(row, names): distribution(row.latency) for row in timed}
    left_out = [message("{row} has no latencies", row=_label(row, names)) for row in view.rows if not row.latency.count]
    return Exported(paths=written(texts), left_out=tuple(left_out))


def file_name(row: Row, names: Sequence[str]) -> str:
    """What a row's file is called: system, the parameters that vary, runtime."""
    return f"{re.sub(r'[^A-Za-z0-9.+_=-]+', '-', _label(row, names))}.hgrm"


def _label(row: Row, names: Sequence[str]) -> str:
    chosen = [f"{name}={value_text(row.params[name])}" for name in names if name in row.params]
    return " ".join([row.system, *chosen, row.runtime])


def distribution(latency: Histogram) -> str:
    """The percentile distribution of *latency* as text, values in us. Raises ValueError if it is empty."""
    lines = [HEAD]
    for value_ns, share, count in steps(latency):
        line = f"{value_ns / NS_PER_US:12.3f} {share:14.12f} {count:10d}"
        lines.append(f"{line} {1 / (1 - share):14.2f}\n" if share < 1 else f"{line}\n")
    return "".join([*lines, _foot(latency)])


def steps(latency: Histogram) -> Iterator[tuple[int, float, int]]:
    """(value in ns, share of the requests that the step stands for, requests up to the value), to the last, 1.

    The value is the highest that its bucket covers, so that the count is of all values up to it.
    """
    total, seen, level = latency.count, 0, 0.0
    if not total:
        raise ValueError("an empty histogram has no percentiles")
    for bucket, number in latency.filled():
        seen += number
        value_ns = min(bounds_ns(bucket)[1] - 1, latency.max_ns)
        while 100 * seen >= level * total:
            yield value_ns, level / 100, seen
            level += 100 / _ticks(level)
            if seen == total:
                break
    yield latency.max_ns, 1.0, total


def _ticks(level: float) -> int:
    """Steps that would fill the scale at *level* percent: 10 up to 50 %, 20 up to 75 %, 40 up to 87.5 %, ..."""
    return TICKS_PER_HALVING << floor(log2(100 / (100 - level))) + 1


def _foot(latency: Histogram) -> str:
    mean_ns = latency.total_ns / latency.count
    deviation_us = deviation_ns(latency) / NS_PER_US
    return (
        f"#[Mean    = {mean_ns / NS_PER_US:12.3f}, StdDeviation   = {deviation_us:12.3f}]\n"
        f"#[Max     = {latency.max_ns / NS_PER_US:12.3f}, Total count    = {latency.count:12d}]\n"
        f"#[Buckets = {LARGEST_BITS - SUB_BITS:12d}, SubBuckets     = {SUB_BUCKETS:12d}]\n"
        "#[Unit    =           us]\n"
    )
