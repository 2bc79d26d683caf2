"""The figures of a cell, and of a row over its blocks, declared once: tables, CSV, Parquet and documentation.

A new figure is a line of FIGURES. CPU time per request is divided by the requests that were answered, everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from core.histogram import Histogram
from core.messages import NOTHING, Message, message
from core.result import CellResult
from reports.document.model import Form
from reports.document.values import microseconds, seconds, whole

Figures = Mapping[str, Any]  # numbers by name; None where the cells do not say


@dataclass(frozen=True, kw_only=True)
class Figure:
    """name: with its unit, as CSV and Parquet have it. key: what a page names it by. form: how people see it

    read: of a cell; None if it does not say
    is_percentile: of all requests of a row together; other figures are medians of its blocks
    head: for people. over, brief, rank: on a terminal, as Column has them; without a rank it is of cells alone
    """

    name: str
    key: str
    read: Callable[[CellResult], float | None]
    form: Form
    head: Message
    is_percentile: bool = False
    over: Message = NOTHING
    brief: Message = NOTHING
    rank: int | None = None

    def of_row(self, good: Sequence[CellResult], percentiles: Mapping[str, int]) -> float | None:
        """Return the figure of a row, from its cells that are ok. percentiles: of all their requests together"""
        if self.is_percentile:
            return percentiles.get(self.name)
        known = [value for cell in good if (value := self.read(cell)) is not None]
        middle = median(known) if known else None
        return round(middle) if known and isinstance(known[0], int) and middle is not None else middle


def completion_ns(cell: CellResult) -> int:
    """Return the median completion time of the clients: from release to last answer."""
    times_ns = [client["completion_ns"] for client in cell.clients]
    return round(median(times_ns)) if times_ns else 0


def completion_max_ns(cell: CellResult) -> int:
    """The time that the slowest client took for all of its requests."""
    return max((client["completion_ns"] for client in cell.clients), default=0)


def requests_per_s(cell: CellResult) -> float:
    """Return the throughput between the first release and the last answer; 0 if the cell was not timed."""
    return cell.answered * 1e9 / cell.wall_ns if cell.wall_ns else 0.0


def cpu_ns(processes: Sequence[Mapping[str, Any]], kind: str = "") -> int | None:
    """CPU time of *processes* in all; kind is user or system, or "" for both. None if one does not say."""
    names = [f"cpu_{kind}_ns"] if kind else ["cpu_user_ns", "cpu_system_ns"]
    if not processes or any(name not in process for process in processes for name in names):
        return None
    spent_ns: list[int] = [process[name] for process in processes for name in names]
    return sum(spent_ns)


def per_request(total: float | None, cell: CellResult) -> float | None:
    """A sum over all processes of a side, for each request that was answered; None where nothing was."""
    return None if total is None or not cell.answered else total / cell.answered


_TIME, _LATENCY, _CPU = message("completion s"), message("latency us"), message("CPU us/request")
FIGURES = (
    Figure(
        name="completion_median_ns",
        key="completion_s",
        read=lambda cell: completion_ns(cell) if cell.clients else None,
        form=seconds,
        head=message("Completion [s]"),
        over=_TIME,
        brief=message("median"),
        rank=0,
    ),
    Figure(
        name="completion_max_ns",
        key="completion_max_s",
        read=lambda cell: completion_max_ns(cell) if cell.clients else None,
        form=seconds,
        head=message("Slowest client [s]"),
        over=_TIME,
        brief=message("max"),
        rank=2,
    ),
    Figure(
        name="wall_ns",
        key="wall_s",
        read=lambda cell: cell.wall_ns or None,
        form=seconds,
        head=message("Wall [s]"),
        over=message("wall"),
        brief=message("s"),
        rank=9,
    ),
    Figure(
        name="requests_per_s",
        key="requests_per_s",
        read=lambda cell: requests_per_s(cell) or None,
        form=whole,
        head=message("Requests/s"),
        over=message("requests"),
        brief=message("per s"),
        rank=3,
    ),
    Figure(
        name="p50_ns",
        key="p50_us",
        read=lambda cell: cell.latency.get("p50_ns"),
        form=microseconds,
        head=message("p50 [us]"),
        is_percentile=True,
        over=_LATENCY,
        brief=message("p50"),
        rank=5,
    ),
    Figure(
        name="p99_ns",
        key="p99_us",
        read=lambda cell: cell.latency.get("p99_ns"),
        form=microseconds,
        head=message("p99 [us]"),
        is_percentile=True,
        over=_LATENCY,
        brief=message("p99"),
        rank=4,
    ),
    Figure(
        name="p999_ns",
        key="p999_us",
        read=lambda cell: cell.latency.get("p999_ns"),
        form=microseconds,
        head=message("p99.9 [us]"),
        is_percentile=True,
    ),
    Figure(
        name="service_cpu_ns_per_request",
        key="service_cpu_us",
        read=lambda cell: per_request(cpu_ns(cell.services), cell),
        form=microseconds,
        head=message("Service CPU [us/request]"),
        over=_CPU,
        brief=message("service"),
        rank=6,
    ),
    Figure(
        name="client_cpu_ns_per_request",
        key="client_cpu_us",
        read=lambda cell: per_request(cpu_ns(cell.clients), cell),
        form=microseconds,
        head=message("Client CPU [us/request]"),
        over=_CPU,
        brief=message("client"),
        rank=7,
    ),
    Figure(name="wrong", key="wrong", read=lambda cell: cell.wrong, form=whole, head=message("Wrong")),
    Figure(
        name="errors", key="errors", read=lambda cell: sum(cell.errors.values()), form=whole, head=message("Errors")
    ),
)


def figures_of(good: Sequence[CellResult], latency: Histogram) -> Figures | None:
    """Of a row's cells that are ok; None if none had clients."""
    if not any(cell.clients for cell in good):
        return None
    percentiles = latency.to_json()
    return {one.name: one.of_row(good, percentiles) for one in FIGURES}
