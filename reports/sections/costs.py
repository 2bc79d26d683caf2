"""Show where the time of a request goes: calculation, other user time, kernel time and waiting.

The costs of a request for services and clients are what the operating system and the handlers
counted.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
A row of a table is a setting under one runtime; its good cells are the measurements that are ok.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import attrgetter

from analysis.cell_index import Row
from analysis.formats import tenths
from analysis.metrics import METRICS, median_of, per_request
from core.messages import NOTHING, SENTENCES, listed, message
from record.saved_run import CellResult
from reports.document import Datum, Section, Strip, Table
from reports.tables import Col, arm_col, col, table
from reports.view import View

PLACE = 21  # in the order of sections (reports/sections/__init__.py)


@dataclass(frozen=True)
class Cost:
    """A cost of a request: microseconds or context switches.

    metric: the key of the metric of a cell; all but waiting times, which are of single requests,
        are totals, and divided by the answered requests
    head: the head of its column, in English
    """

    metric: str
    head: str

    def of(self, cells: Sequence[CellResult]) -> float | None:
        """Return the median over the measurements (cells) where the cost is known, in us for a
        time; None if it is unknown in all.
        """
        read = METRICS[self.metric].read
        is_of_a_request = self.metric.startswith("waiting")
        found = median_of(
            read if is_of_a_request else lambda cell: per_request(read(cell), cell), cells
        )
        return found / 1e3 if found is not None and self.metric.endswith("_ns") else found


CALC = Cost("calc_ns", "calculation")
USER = Cost("service_cpu_user_ns", "user")
KERNEL = Cost("service_cpu_system_ns", "kernel")
WAITING = Cost("waiting_mean_ns", "waiting")
# the columns of the first table, and of the folded one
TIMES = (
    CALC,
    USER,
    KERNEL,
    WAITING,
    Cost("client_cpu_user_ns", "client user time"),
    Cost("client_cpu_system_ns", "client kernel time"),
)
TOLD = CALC, WAITING  # only the handlers of gilscope's own services count these
USER_TIME = message("user time")
CAPTION = message(
    "Time per request in us, as medians over the blocks (measured rounds). User and kernel are the "
    "service's CPU time in user and kernel mode."
)
TOLD_CAPTION = message(
    "Calculation is the time in the calculation loop. In the bars, user time excludes the "
    "calculation. Waiting is the time from sending a request until its handler starts, sampled "
    "from one request in 64. Calculation and waiting are wall time, but user and kernel are CPU "
    "time, so the four do not add up to the latency."
)
MORE = (
    Cost("service_run_queue_ns", "core wait"),
    Cost("client_run_queue_ns", "client's wait for a core"),
    Cost("service_voluntary_switches", "voluntary switches"),
    Cost("service_involuntary_switches", "involuntary switches"),
)


def section(view: View) -> Section:
    """Return the report's section on the time per request under each runtime."""
    arm: Col[Row] = arm_col("runtime", view.looks)
    more = table(
        message("Waits for a core, and context switches"),
        [arm, *map(_col, MORE)],
        view.groups_with(attrgetter("good")),
        folded=True,
        caption=message(
            "Core wait is the time in which threads were ready to run but had no core, in us per "
            "request. Switches are voluntary and involuntary context switches of the service, per "
            "request. All figures are medians over the blocks (rounds of measurement)."
        ),
    )
    return Section(
        "costs",
        message("Where the time of a request goes"),
        tables=(_times(arm, view), more),
    )


def _col(cost: Cost) -> Col[Row]:
    """Return the table column of a cost, such as CPU time per request."""
    return col(cost.head, lambda row: cost.of(row.good), tenths, cost.metric)


def _total_us(row: Row) -> float:
    return sum(_parts(row).values())


def _is_told(cost: Cost, rows: Sequence[Row]) -> bool:
    return any(cost.of(row.good) is not None for row in rows)


def _times(arm: Col[Row], view: View) -> Table:
    """Return a table with a stacked bar of the time per request for each runtime. All settings
    share a scale.
    """
    timed = view.groups_with(attrgetter("figures"))
    rows = [row for _, of_setting in timed for row in of_setting]
    told = [one for one in TOLD if _is_told(one, rows)]
    times = [one for one in TIMES if one in told or one not in TOLD]
    longest = max(map(_total_us, rows), default=0.0)

    def bar(row: Row) -> Datum:
        parts = _parts(row)
        ends = pairwise(accumulate(parts.values(), initial=0.0))
        bars = [
            # s0 to s3 are in the order of _parts(), as are the keys of the table below
            (start, end, f"piece s{place}")
            for place, (start, end) in enumerate(ends)
            if end > start
        ]
        tip = ", ".join(f"{name} {size_us:.1f}" for name, size_us in parts.items())
        # 1.0 if nothing is known: a scale needs a length
        strip = Strip(high=longest or 1.0, bars=bars, tip=f"{row.runtime}: {tip} us")
        return Datum(strip=strip, cells=row.trace)

    return table(
        message("Where the time of a request goes"),
        [arm, col(NOTHING, bar, is_strip=True), *map(_col, times)],
        timed,
        kind="stacks",
        key="stacks",
        keys=[
            *[("s0", message("calculation"))] * (CALC in told),
            ("s1", message("user time without the calculation") if CALC in told else USER_TIME),
            ("s2", message("kernel")),
            *[("s3", message("waiting"))] * (WAITING in told),
        ],
        caption=listed([CAPTION, *[TOLD_CAPTION] * bool(told)], SENTENCES),
    )


def _parts(row: Row) -> dict[str, float]:
    """Return the parts of the time per request in us. The part `user` excludes the handlers'
    calculation loop.
    """
    calc, user, kernel, waiting = (
        cost.of(row.good) or 0.0 for cost in (CALC, USER, KERNEL, WAITING)
    )
    # Calculation is wall time, so with waits for a core it can exceed the CPU time.
    return {"calc": calc, "user": max(0.0, user - calc), "kernel": kernel, "waiting": waiting}
