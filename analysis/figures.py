"""Declare the figures of a measurement (cell) and of a row of results. Tables and CSV files show these figures.

To add a figure, add an entry to FIGURES. CPU time per request is always divided by the answered requests.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from statistics import median
from typing import Any

from analysis.formats import Form, hundredths, microseconds, seconds, tenths, whole
from core.histogram import Histogram
from core.messages import NOTHING, Message, message
from core.result import CellResult

Reader = Callable[[CellResult], float | None]
Figures = Mapping[str, Any]  # numbers by row_name; None if unknown
FEWEST = {"p50": 20, "p90": 100, "p99": 1000, "p999": 10_000}  # requests, so that ten of them lie beyond a percentile
UNITS = {"_per_request": "ns/request", "_per_s": "1/s", "_ns": "ns", "_bytes": "bytes"}  # by the suffix of a name
LESS, MORE = message("Less is better."), message("More is better.")


@dataclass(frozen=True)
class Shown:
    """The display settings of a figure in tables.

    key:  the figure's name in the page's data-figure attributes
    form: formats the number as text
    rank: the rank of the column in the table of rows; None if that table does not show the figure
    head: the English text of the column's head; brief, over: see Column
    """

    key: str
    form: Form
    head: str
    rank: int | None = None
    brief: Message = NOTHING
    over: Message = NOTHING


@dataclass(frozen=True)
class Figure:
    """A figure: a number that can be read from each measurement (cell).

    name:    the name with its unit, which is also the column's name in cells.csv
    meaning: one line for docs/report.md
    read:    returns the figure of a cell; None if unknown
    better:  whether LESS or MORE is better, or NOTHING
    percentile: "p99" and so on, empty for other figures. Arms are compared by percentile in analysis.details

    A row's figure is the median over its blocks. A percentile for which any block has too few requests is that of the
    requests of all blocks together.
    """

    name: str
    meaning: str
    read: Reader
    better: Message = NOTHING
    shown: Shown | None = None
    percentile: str = ""

    @property
    def row_name(self) -> str:
        """The name of this figure's column in table.csv: the figure's name without the prefix `latency_`."""
        return self.name.removeprefix("latency_")

    @property
    def unit(self) -> str:
        """The figure's unit; empty for a count."""
        return next((unit for end, unit in UNITS.items() if self.name.endswith(end)), "")

    def is_pooled(self, good: Sequence[CellResult]) -> bool:
        """Return whether a row's figure is a percentile of all blocks together, because a block has too few requests.

        good: the row's cells that are ok
        """
        return bool(self.percentile) and None in map(self.read, good)

    def of_row(self, good: Sequence[CellResult], latency: Mapping[str, int]) -> float | None:
        """Return the value of this figure for a row of the results table.

        good:    the row's cells that are ok
        latency: the latency histogram of all their requests, as JSON
        """
        if self.is_pooled(good):
            return percentile_ns(latency, self.percentile)
        known = [value for cell in good if (value := self.read(cell)) is not None]
        if not known:
            return None
        return round(median(known)) if isinstance(known[0], int) else median(known)


def median_of(read: Reader, cells: Iterable[CellResult]) -> float | None:
    """Return the median of the values that *read* returns for *cells*; None if *read* returns None for all of them."""
    known = [value for cell in cells if (value := read(cell)) is not None]
    return median(known) if known else None


def completion_ns(cell: CellResult) -> int | None:
    """Return the time in ns from a client's start signal to its last answer, the median over the clients."""
    return round(median(client["completion_ns"] for client in cell.clients)) if cell.clients else None


def computed_completion_ns(cell: CellResult) -> int | None:
    """Return the time in ns that clients of a system of gilscope would need for their requests, at its throughput.

    None if they sent this number of requests, because the time was then measured.
    """
    names = ("NUM_REQUESTS_PER_CLIENT", "NUM_API_SERVICES", "NUM_CLIENTS")
    numbers = [int(cell.params.get(name) or 0) for name in names]
    if not (cell.turns and cell.system.isdigit() and requests_per_s(cell)):
        return None
    return round(prod(numbers) * 1e9 / requests_per_s(cell)) or None


def requests_per_s(cell: CellResult) -> float:
    """Return the answered requests per second of the time in which requests count (wall_ns); 0 if not timed."""
    return cell.answered * 1e9 / cell.wall_ns if cell.wall_ns else 0.0


def replaced(cell: CellResult) -> int:
    """Return how often a client went on with another connection than the one of its last answer."""
    return sum(client.get("reconnects", 0) for client in cell.clients)


def requests_per_connection(cell: CellResult) -> float | None:
    """Return the answers for each connection that was replaced; None if all were kept."""
    return cell.answered / replaced(cell) if replaced(cell) else None


def cpu_ns(processes: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the total CPU time of *processes*, user plus system, in ns; None if any of them is unknown."""
    return _of_all(sum, processes, "cpu_user_ns", "cpu_system_ns")


def _of_all(pool: Callable[[list[int]], int], processes: Sequence[Mapping[str, Any]], *names: str) -> int | None:
    counts = [process[name] for process in processes for name in names if name in process]
    return pool(counts) if counts and len(counts) == len(processes) * len(names) else None


def per_request(total: float | None, cell: CellResult) -> float | None:
    """Return *total* divided by the answered requests of the cell; None if no request was answered."""
    return None if total is None or not cell.answered else total / cell.answered


def percentile_ns(summary: Mapping[str, Any], name: str) -> int | None:
    """Return a percentile (or min, mean, max) of a histogram as JSON; None if fewer than 10 requests lie beyond it."""
    return summary.get(f"{name}_ns") if summary.get("count", 0) >= FEWEST.get(name, 1) else None


def _of_histogram(kind: str, name: str) -> Reader:
    return lambda cell: percentile_ns(getattr(cell, kind), name)


def _counted(pool: Callable[[list[int]], int], processes: str, name: str) -> Reader:
    return lambda cell: _of_all(pool, getattr(cell, processes), name)


LATENCIES = {
    "min": "shortest",
    "mean": "mean",
    "p50": "50th percentile of",
    "p90": "90th percentile of",
    "p99": "99th percentile of",
    "p999": "99.9th percentile of",
    "max": "longest",
}
USAGE: Mapping[str, tuple[Callable[[list[int]], int], str]] = {
    "cpu_user_ns": (sum, "CPU time in user mode of all"),
    "cpu_system_ns": (sum, "CPU time in the kernel of all"),
    "voluntary_switches": (sum, "times that a thread gave its core up to wait, of all"),
    "involuntary_switches": (sum, "times that a thread lost its core to another, of all"),
    "max_rss_bytes": (max, "peak resident memory of the largest of the"),
}
TIMES = {
    "latency": "time from request to answer",
    "connect": "time to open a connection",
    "waiting": "time from sending a request to the start of its handler, of one request in 64",
}
COMPLETION, LATENCY, CPU = message("completion s"), message("latency us"), message("CPU us/request")
PERCENTILES = {
    ("latency", "p50"): Shown("p50_us", microseconds, "p50 [us]", 5, message("p50"), LATENCY),
    ("latency", "p99"): Shown("p99_us", microseconds, "p99 [us]", 4, message("p99"), LATENCY),
    ("latency", "p999"): Shown("p999_us", microseconds, "p99.9 [us]"),
}
FIGURES = (
    Figure("requests", "requests that clients sent", lambda cell: cell.requests),
    Figure("answered", "requests that were answered", lambda cell: cell.answered),
    Figure(
        "completion_median_ns",
        "time from release to last answer, the median over the clients; with --duration its length, not a result",
        completion_ns,
        LESS,
        Shown("completion_s", seconds, "Completion [s]", 0, message("median"), COMPLETION),
    ),
    Figure(
        "completion_max_ns",
        "time from release to last answer of the slowest client",
        lambda cell: max((client["completion_ns"] for client in cell.clients), default=None),
        LESS,
        Shown("completion_max_s", seconds, "Slowest client [s]", 2, message("max"), COMPLETION),
    ),
    Figure(
        "computed_completion_ns",
        "with --duration: time that a client would need for NUM_REQUESTS_PER_CLIENT requests to each service, computed",
        computed_completion_ns,
        LESS,
        Shown("computed_s", seconds, "Completion, computed [s]", 6, message("computed"), COMPLETION),
    ),
    Figure(
        "wall_ns",
        "time in which requests count: all time slices together, or from the first release to the last answer",
        lambda cell: cell.wall_ns or None,
        LESS,
        Shown("wall_s", seconds, "Wall [s]", 9, message("s"), message("wall")),
    ),
    Figure(
        "requests_per_s",
        "answered requests in each second of wall_ns",
        lambda cell: requests_per_s(cell) or None,
        MORE,
        Shown("requests_per_s", whole, "Requests/s", 3, message("per s"), message("requests")),
    ),
    Figure(
        "requests_per_connection",
        "answered requests for each connection that a client replaced; empty if it kept all connections",
        requests_per_connection,
        MORE,
        Shown(
            "requests_per_connection",
            tenths,
            "Requests per connection",
            11,
            message("per connection"),
            message("requests"),
        ),
    ),
    Figure("calc_ns", "time that handlers calculated, over all requests", lambda cell: cell.calc_ns or None),
    *(
        Figure(
            f"{kind}_{name}_ns",
            f"{which} {of}",
            _of_histogram(kind, name),
            LESS,
            PERCENTILES.get((kind, name)),
            name if (kind, name) in PERCENTILES else "",
        )
        for kind, of in TIMES.items()
        for name, which in LATENCIES.items()
    ),
    *(
        Figure(f"{side}_{name}", f"{meaning} {side} processes", _counted(pool, f"{side}s", name))
        for side in ("service", "client")
        for name, (pool, meaning) in USAGE.items()
    ),
    Figure(
        "service_cpu_ns_per_request",
        "CPU time of all service processes for each answered request",
        lambda cell: per_request(cpu_ns(cell.services), cell),
        LESS,
        Shown("service_cpu_us", microseconds, "Service CPU [us/request]", 6, message("service"), CPU),
    ),
    Figure(
        "client_cpu_ns_per_request",
        "CPU time of all client processes for each answered request",
        lambda cell: per_request(cpu_ns(cell.clients), cell),
        LESS,
        Shown("client_cpu_us", microseconds, "Client CPU [us/request]", 7, message("client"), CPU),
    ),
    Figure(
        "beside_cpu_ns_per_request",
        "CPU time of the programs beside the services, such as their database, for each answered request",
        lambda cell: per_request(sum(cell.beside.values()), cell) if cell.beside else None,
        LESS,
        Shown(
            "beside_cpu_us",
            microseconds,
            "CPU of programs beside the service [us/request]",
            10,
            message("programs beside"),
            CPU,
        ),
    ),
    Figure(
        "wrong",
        "answers that were not as expected",
        lambda cell: cell.wrong,
        LESS,
        Shown("wrong", whole, "Wrong"),
    ),
    Figure(
        "errors",
        "requests that failed",
        lambda cell: sum(cell.errors.values()),
        LESS,
        Shown("errors", whole, "Errors"),
    ),
)
SHOWN = [(one, one.shown) for one in FIGURES if one.shown]
ROW_COLUMNS = {
    **{
        one.row_name: replace(shown, key=f"row {one.percentile}") if one.percentile else shown
        for one, shown in SHOWN
        if shown.rank is not None
    },
    "ratio_to_first_runtime": Shown("ratio_to_first", hundredths, "Ratio", 1, message("ratio")),
    "blocks_ok": Shown("blocks_ok", whole, "Blocks ok", 8, message("ok"), message("blocks")),
}


def pooled(good: Sequence[CellResult]) -> set[str]:
    """Return the percentiles that a row has of all its blocks together, such as "p99".

    good: the row's cells that are ok
    """
    return {one.percentile for one in FIGURES if one.is_pooled(good)}


def figures_of(good: Sequence[CellResult], latency: Histogram) -> Figures | None:
    """Return the figures of a table row by name; None if no measurement (cell) of the row had clients.

    good: its cells that are ok
    """
    if not any(cell.clients for cell in good):
        return None
    together = latency.to_json()
    return {one.row_name: one.of_row(good, together) for one, _ in SHOWN}
