"""Export of latencies as percentile files of HdrHistogram (.hgrm): one file for each row of the results table.

HdrHistogram's plotters open these files. Source of the format and the steps: HdrHistogram (G. Tene),
AbstractHistogram.outputPercentileDistribution and PercentileIterator, with 5 ticks per half distance to 100 %.
"""

import re
from collections.abc import Iterator
from math import floor, log2
from pathlib import Path

from core.errors import BadInput
from core.histogram import SUB_BITS, Histogram, bounds_ns
from core.messages import message
from reports.exports import Exported, written
from reports.facts.settings import shown, varying
from reports.view import View

TICKS_PER_HALVING = 5  # number of steps for each halving of the distance to 100 %
NS_PER_US = 1000
LARGEST_BITS = 42
HEAD = f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}\n\n"


def export(view: View, to: Path) -> Exported:
    """Write the latency distribution of each table row, in us, into a file of its own in the folder *to*.

    The distribution has the latencies of all blocks. A file is named after system, varying parameters and runtime.
    Raises BadInput if the run has no latencies or a file cannot be written.
    """
    names = varying(view.rows)
    texts, left_out = {}, []
    for row in view.rows:
        chosen = [f"{name}={value}" for name, value in shown(row, names).items()]
        label = " ".join([row.system, *chosen, row.runtime])
        if row.latency.count:
            texts[to / f"{re.sub(r'[^A-Za-z0-9.+_=-]+', '-', label)}.hgrm"] = distribution(row.latency)
        else:
            left_out.append(message("{row} has no latency data", row=label))
    if not texts:
        raise BadInput(
            "Run {run} has no latency data to export. Choose a run whose clients sent requests.", run=view.run.run_id
        )
    return written(texts, left_out)


def distribution(latency: Histogram) -> str:
    """Return the percentile distribution of *latency* as text, values in us."""
    lines = []
    for value_ns, share, count in steps(latency):
        inverse = f" {1 / (1 - share):14.2f}" if share < 1 else ""
        lines.append(f"{value_ns / NS_PER_US:12.3f} {share:14.12f} {count:10d}{inverse}\n")
    mean_us, deviation_us = latency.total_ns / latency.count / NS_PER_US, latency.deviation_ns / NS_PER_US
    return "".join(
        [
            HEAD,
            *lines,
            f"#[Mean    = {mean_us:12.3f}, StdDeviation   = {deviation_us:12.3f}]\n",
            f"#[Max     = {latency.max_ns / NS_PER_US:12.3f}, Total count    = {latency.count:12d}]\n",
            f"#[Buckets = {LARGEST_BITS - SUB_BITS:12d}, SubBuckets     = {1 << (SUB_BITS + 1):12d}]\n",
            "#[Unit    =           us]\n",
        ]
    )


def steps(latency: Histogram) -> Iterator[tuple[int, float, int]]:
    """Yield (latency in ns, share of the requests, number of requests up to that latency) for rising shares up to 1.

    The value is the largest that its bucket covers, so the number counts all requests up to the value.
    """
    total, seen, level = latency.count, 0, 0.0
    for bucket, number in latency.filled():
        seen += number
        value_ns = min(bounds_ns(bucket)[1] - 1, latency.max_ns)
        while 100 * seen >= level * total:
            yield value_ns, level / 100, seen
            level += 100 / (TICKS_PER_HALVING << floor(log2(100 / (100 - level))) + 1)
            if seen == total:
                break
    yield latency.max_ns, 1.0, total
