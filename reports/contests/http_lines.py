"""What each row of the HTTP clients says of its workers: how long they took, and how much of it at once. Pure.

LMean is the mean time of a worker's loop, Bench the time from starting the workers to the end of the last one, as the
seed has them. Bench / LMean is the serialisation: 1 where all work at once, the number of workers where one works
after the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log
from statistics import mean, median
from typing import Any

from core.errors import BadInput
from core.result import CellResult
from core.runtime import NATIVE, RuntimeName
from reports.rows.arrangement import shown, varying
from reports.rows.standings import share_text
from reports.rows.summary import Row
from reports.statistics.stats import Estimate, effect, log_ratios

HELD, RELEASED, UNDECLARED = "http-beast-held", "http-beast-released", "http-beast-undeclared"
BEAST = "http-beast-native"
MOST_SHOWN = 99.0  # an interval of few blocks may end far beyond the number of workers


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row and what it says of its workers. Times in ns, medians over the blocks.

    worker: thread or task; empty where the run does not say
    """

    row: Row
    client: str
    worker: str
    lmean_ns: float
    bench_ns: float
    serialisation: Estimate
    in_flight: float

    @property
    def gil_enabled(self) -> bool | None:
        """Whether its runtime has a GIL by its name; None for native programs."""
        return None if self.row.runtime == NATIVE else RuntimeName.parse(self.row.runtime).gil_enabled


def lines_of(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Line]:
    """Every row whose clients told their workers' times, but for arms that take part a second time."""
    told = [row for row in rows if row.good and all(_workers(cell) for cell in row.good)]
    return [_line(row, titles) for row in told if _is_runtime(row.runtime)]


def _is_runtime(arm: str) -> bool:
    try:
        RuntimeName.parse(arm)
    except BadInput:
        return False
    return True


def _line(row: Row, titles: Mapping[str, str]) -> Line:
    return Line(
        row=row,
        client=titles.get(row.system, row.system),
        worker=str(row.good[-1].clients[0].get("worker", "")),
        lmean_ns=median(mean(_workers(cell)) for cell in row.good),
        bench_ns=median(_bench_ns(cell) for cell in row.good),
        serialisation=_ratio(effect([log(_bench_ns(cell) / mean(_workers(cell))) for cell in row.good]), least=1.0),
        in_flight=median(_in_flight(cell) for cell in row.good),
    )


def _workers(cell: CellResult) -> list[int]:
    """Loop time of every worker, ns."""
    return [loop_ns for client in cell.clients for loop_ns in client.get("workers_ns", ())]


def _bench_ns(cell: CellResult) -> int:
    return int(max(client["bench_ns"] for client in cell.clients))


def _in_flight(cell: CellResult) -> float:
    """Median latency x requests / Bench: how many requests were under way, but for those that waited for a turn.

    The mean would not do: a thread that waits for the GIL mostly does so within a request, so that the sum of all
    latencies is that of the loops, and over Bench it is but the workers / serialisation.
    """
    return float(cell.latency["p50_ns"] * cell.latency["count"] / _bench_ns(cell))


def _ratio(found: Estimate, least: float = 0.0) -> Estimate:
    """*found*, of logarithms, as a ratio. Bench is no shorter than any loop, so no serialisation goes below 1."""
    value, high = exp(found.value), exp(found.high) if isfinite(found.high) else found.high
    low = exp(found.low) if isfinite(found.low) else 0.0
    return Estimate(value=value, low=min(value, max(least, low)), high=high, count=found.count)


def bench_ratio(one: Line, base: Line) -> Estimate | None:
    """Bench of *one* over that of *base*, paired by block, with its 95 % interval; None where no block has both."""
    ratios = log_ratios(_benches_ns(one), _benches_ns(base))
    return _ratio(effect([*ratios.values()])) if ratios else None


def _benches_ns(one: Line) -> dict[int, int]:
    return {cell.block: _bench_ns(cell) for cell in one.row.good}


def by_setting(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The lines by the parameters that vary, in words."""
    names = varying([one.row for one in lines])
    found: dict[str, list[Line]] = {}
    for one in lines:
        label = ", ".join(f"{name} {value}" for name, value in shown(one.row, names).items())
        found.setdefault(label, []).append(one)
    return found


def ratio_text(found: Estimate) -> str:
    """7.02 [6.50, 7.40]; the end of an interval that says no more is '> 99'; without one for too few blocks."""
    if not MOST_SHOWN < found.high < inf:
        return share_text(found)
    return f"{found.value:.2f} [{found.low:.2f}, > {MOST_SHOWN:.0f}]"


def timeline(one: Line) -> list[list[tuple[int, int]]]:
    """Of its last block: for each worker, start and end of its first requests, ns from the release."""
    told: Sequence[Mapping[str, Any]] = one.row.good[-1].clients
    return [[(start, end) for start, end in worker] for client in told for worker in client.get("timeline", ())]


def told_timelines(lines: Sequence[Line]) -> list[Line]:
    """Those whose timelines explain the rest: held and released under the newest default build, held without a GIL."""
    some = [one for one in lines if timeline(one)]
    held, released = ([one for one in some if one.row.system == system] for system in (HELD, RELEASED))
    chosen = [*_newest(held, free_threaded=False), *_newest(released, free_threaded=False)]
    return chosen + [one for one in _newest(held, free_threaded=True) if not one.gil_enabled]


def _newest(lines: Sequence[Line], *, free_threaded: bool) -> list[Line]:
    """The one under the newest version of such a build; of two of the same, the one without a GIL."""
    names = [(RuntimeName.parse(one.row.runtime), one) for one in lines]
    fitting = [(name, one) for name, one in names if name.free_threaded == free_threaded]
    fitting.sort(key=lambda pair: (int(pair[0].version.removeprefix("3.")), not pair[0].gil_enabled))
    return [one for _, one in fitting[-1:]]
