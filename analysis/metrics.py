"""The table of metrics: each number that a measurement (cell) has is declared once, in METRICS.

Tables, rankings, charts, comparisons, CSV files and --json take a metric by its row key. To add
one, append it to _ALL; their order is that of the columns of cells.csv. A row's value
is the median over its blocks. A percentile for which any block has too few requests is that of the
requests of all blocks together.

A block is a repetition of the run, in which each cell is measured once. A metric reads only the
CellResult (record/saved_run.py), and returns None if that does not have the figure. Keys are a
public format: users read them in cells.csv and --json.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from math import prod
from statistics import median

from analysis.formats import (
    MIB,
    Scale,
    hundredths,
    latency_scale,
    mib,
    microseconds,
    ratio,
    seconds,
    tenths,
    whole,
)
from core.histogram import Histogram
from core.messages import NOTHING, Json, Message, message
from record.child_lines import ProcessUsage
from record.saved_run import CellResult

Reader = Callable[[CellResult], float | None]
Figures = Json  # numbers by key; None if unknown
# figures that a histogram knows exactly, from one request on
EXACT = ("min", "mean", "max")
UNITS = {
    "_per_request": "ns/request",
    "_per_s": "1/s",
    "_ns": "ns",
    "_bytes": "bytes",
}  # by the suffix of a key
LESS, MORE = message("Less is better."), message("More is better.")


COUNT, TENTHS, HUNDREDTHS = (
    Scale(NOTHING, 1, whole),
    Scale(NOTHING, 1, tenths),
    Scale(NOTHING, 1, hundredths),
)
SECONDS, CPU_TIME = (
    Scale(message("s"), 1e9, seconds),
    Scale(message("us/request"), 1e3, microseconds),
)
CORES, MEMORY = Scale(message("cores"), 1, ratio), Scale(message("MiB"), MIB, mib)


@dataclass(frozen=True)
class Metric:
    """A number that can be read from each measurement (cell).

    key: its name with the unit of the raw value, and its column in cells.csv
    meaning: one line of documentation
    read: returns the raw value of a cell; None if unknown
    better: whether LESS or MORE is better, or NOTHING
    label: its name in tables, without the unit; empty if no table shows it
    unit: the scale on which it is shown; None for a latency, whose scale depends on its values
    rank: the rank of its column in the table of results (see Column.rank); None if that table does
        not have it
    brief, over: on a narrow terminal, a shorter label, and the label that it shares with its
        neighbours
    percentile: "p99" and so on for a percentile of the latency; arms are compared by these, too
    """

    key: str
    meaning: str
    read: Reader
    _: KW_ONLY
    better: Message = NOTHING
    label: Message = NOTHING
    unit: Scale | None = COUNT
    rank: int | None = None
    brief: Message = NOTHING
    over: Message = NOTHING
    percentile: str = ""

    @property
    def row_key(self) -> str:
        """The key of a row's value: *key* without the prefix `latency_`."""
        return self.key.removeprefix("latency_")

    @property
    def raw_unit(self) -> str:
        """The unit of the raw value; empty for a count."""
        return next((unit for end, unit in UNITS.items() if self.key.endswith(end)), "")

    def scale(self, most: float) -> Scale:
        """Return the scale on which values up to *most* are shown."""
        return self.unit or latency_scale(most)

    def is_pooled(self, good: Sequence[CellResult]) -> bool:
        """Return whether a row's value is a percentile of all blocks together, because a block has
        too few requests.

        good: the row's cells that are ok
        """
        return bool(self.percentile) and None in map(self.read, good)

    def of_row(self, good: Sequence[CellResult], latency: Histogram) -> float | None:
        """Return the value of this metric for a row of the results table.

        good:    the row's cells that are ok
        latency: the latencies of all their requests
        """
        if self.is_pooled(good):
            return percentile_ns(latency, self.percentile)
        found = self.median(good)
        return round(found) if found is not None and isinstance(self.read(good[0]), int) else found

    def median(self, cells: Iterable[CellResult]) -> float | None:
        """Return the median over the cells whose value is known; None if there is none."""
        return median_of(self.read, cells)

    def most(self, cells: Iterable[CellResult]) -> float:
        """Return the largest value of *cells*; 0 if none is known."""
        return max(filter(None, map(self.read, cells)), default=0.0)


def median_of(read: Reader, cells: Iterable[CellResult]) -> float | None:
    """Return the median of the values that *read* returns for *cells*; None if *read* returns None
    for all of them.
    """
    known = [value for cell in cells if (value := read(cell)) is not None]
    return median(known) if known else None


def completion_ns(cell: CellResult) -> int | None:
    """Return the time in ns from a client's start signal to its last answer, the median over the
    clients.
    """
    return round(median(client.completion_ns for client in cell.clients)) if cell.clients else None


def computed_completion_ns(cell: CellResult) -> int | None:
    """Return the time in ns that clients of a system of gilscope would need for their requests, at
    its throughput.

    None if they sent this number of requests, because the time was then measured.
    """
    names = ("NUM_REQUESTS_PER_CLIENT", "NUM_API_SERVICES", "NUM_CLIENTS")
    numbers = [int(cell.params.get(name) or 0) for name in names]
    if not (cell.turns.slices and cell.system.isdigit() and requests_per_s(cell)):
        return None
    return round(prod(numbers) * 1e9 / requests_per_s(cell)) or None


def requests_per_s(cell: CellResult) -> float:
    """Return the answered requests per second of the time in which requests count (wall_ns); 0 if
    not timed.
    """
    return cell.answered * 1e9 / cell.wall_ns if cell.wall_ns else 0.0


def replaced(cell: CellResult) -> int:
    """Return how often a client went on with another connection than the one of its last answer."""
    return sum(client.reconnects or 0 for client in cell.clients)


def requests_per_connection(cell: CellResult) -> float | None:
    """Return the answers for each connection that was replaced; None if all were kept."""
    return cell.answered / replaced(cell) if replaced(cell) else None


def cpu_ns(processes: Sequence[ProcessUsage]) -> int | None:
    """Return the total CPU time of *processes*, user plus system, in ns; None if any of them is
    unknown.
    """
    return _of_all(sum, processes, "cpu_user_ns", "cpu_system_ns")


def cores_used(cell: CellResult, processes: Sequence[ProcessUsage]) -> float | None:
    """Return how many cores *processes* of a cell used while requests counted; None if unknown."""
    used_ns = cpu_ns(processes)
    return used_ns / cell.wall_ns if used_ns is not None and cell.wall_ns else None


def all_cores_used(cell: CellResult) -> float | None:
    """Return how many cores services and clients used together; None if unknown."""
    return cores_used(cell, [*cell.services, *cell.clients])


def _of_all(
    pool: Callable[[list[int]], int], processes: Sequence[ProcessUsage], *names: str
) -> int | None:
    counts = [getattr(process, name) for process in processes for name in names]
    return pool(counts) if counts and None not in counts else None


def memory_bytes(processes: Sequence[ProcessUsage]) -> int | None:
    """Return the memory of all *processes*: the sum of their PSS, or else of their peak RSS; None
    if unknown.
    """
    name = "pss_bytes" if all(process.pss_bytes for process in processes) else "max_rss_bytes"
    sizes: list[int] = [getattr(process, name) or 0 for process in processes]
    return sum(sizes) if all(sizes) else None


def per_request(total: float | None, cell: CellResult) -> float | None:
    """Return *total* divided by the answered requests of the cell; None if no request
    was answered.
    """
    return None if total is None or not cell.answered else total / cell.answered


def percentile_ns(latency: Histogram, name: str) -> int | None:
    """Return a percentile (or min, mean, max) of a histogram; None if fewer than 10 requests lie
    beyond it.
    """
    if name not in EXACT:
        return latency.shown_percentile(name)
    return getattr(latency, f"{name}_ns") if latency.count else None


def _counted(pool: Callable[[list[int]], int], processes: str, name: str) -> Reader:
    return lambda cell: _of_all(pool, getattr(cell, processes), name)


# by the name of a percentile, or of EXACT, in the order of columns; values as in Metric.meaning
LATENCIES = {
    "min": "shortest",
    "mean": "mean",
    "p50": "50th percentile of",
    "p90": "90th percentile of",
    "p99": "99th percentile of",
    "p999": "99.9th percentile of",
    "max": "longest",
}
# by field of ProcessUsage: how to combine the values of several processes, and the meaning
USAGE: Mapping[str, tuple[Callable[[list[int]], int], str]] = {
    "cpu_user_ns": (sum, "CPU time in user mode of all"),
    "cpu_system_ns": (sum, "CPU time in the kernel of all"),
    "voluntary_switches": (sum, "times that a thread gave its core up to wait, of all"),
    "involuntary_switches": (sum, "times that a thread lost its core to another, of all"),
    "run_queue_ns": (sum, "time that threads were ready to run but had no core, of all"),
    "max_rss_bytes": (max, "peak resident memory of the largest of the"),
}
# by field of CellResult with a histogram: the meaning of its values
TIMES = {
    "latency": "time from request to answer",
    "connect": "time to open a connection",
    "waiting": "time from sending a request to the start of its handler, of one request in 64",
}
COMPLETION, LATENCY, CPU = message("completion"), message("latency"), message("CPU")


# of the percentiles of the latency that tables show: label and rank
SHOWN = {"p50": (message("p50"), 5), "p99": (message("p99"), 4), "p999": (message("p99.9"), None)}


def _of_histogram(kind: str, name: str) -> Metric:
    """Return the metric of a percentile (or min, mean, max) of the histogram *kind* of a cell."""
    metric = Metric(
        f"{kind}_{name}_ns",
        f"{LATENCIES[name]} {TIMES[kind]}",
        lambda cell: percentile_ns(getattr(cell, kind), name),
        better=LESS,
    )
    if kind != "latency" or name not in SHOWN:
        return metric
    label, rank = SHOWN[name]
    return replace(
        metric, label=label, unit=None, rank=rank, brief=label, over=LATENCY, percentile=name
    )


_ALL = (
    Metric("requests", "requests that clients sent", lambda cell: cell.requests),
    Metric("answered", "requests that were answered", lambda cell: cell.answered),
    Metric(
        "completion_median_ns",
        "time from release to last answer, the median over the clients; with --duration "
        "its length, not a result",
        completion_ns,
        better=LESS,
        label=message("Completion"),
        unit=SECONDS,
        rank=0,
        brief=message("median"),
        over=COMPLETION,
    ),
    Metric(
        "completion_max_ns",
        "time from release to last answer of the slowest client",
        lambda cell: max((client.completion_ns for client in cell.clients), default=None),
        better=LESS,
        label=message("Slowest client"),
        unit=SECONDS,
        rank=2,
        brief=message("max"),
        over=COMPLETION,
    ),
    Metric(
        "computed_completion_ns",
        "with --duration: time that a client would need for NUM_REQUESTS_PER_CLIENT "
        "requests to each service, computed",
        computed_completion_ns,
        better=LESS,
        label=message("Completion, computed"),
        unit=SECONDS,
        rank=6,
        brief=message("computed"),
        over=COMPLETION,
    ),
    Metric(
        "wall_ns",
        "time in which requests count: all time slices together, or from the first release "
        "to the last answer",
        lambda cell: cell.wall_ns or None,
        better=LESS,
        label=message("Wall"),
        unit=SECONDS,
        rank=9,
    ),
    Metric(
        "requests_per_s",
        "answered requests in each second of wall_ns",
        lambda cell: requests_per_s(cell) or None,
        better=MORE,
        label=message("Requests/s"),
        rank=3,
        brief=message("per s"),
        over=message("requests"),
    ),
    Metric(
        "requests_per_connection",
        "answered requests for each connection that a client replaced; empty if it kept "
        "all connections",
        requests_per_connection,
        better=MORE,
        label=message("Requests per connection"),
        unit=TENTHS,
        rank=11,
        brief=message("per connection"),
        over=message("requests"),
    ),
    Metric(
        "calc_ns",
        "time that handlers calculated, over all requests",
        lambda cell: cell.calc_ns or None,
    ),
    *(_of_histogram(kind, name) for kind in TIMES for name in LATENCIES),
    *(
        Metric(
            f"{side}_{name}",
            f"{meaning} {side} processes",
            _counted(pool, f"{side}s", name),
        )
        for side in ("service", "client")
        for name, (pool, meaning) in USAGE.items()
    ),
    Metric(
        "service_cpu_ns_per_request",
        "CPU time of all service processes for each answered request",
        lambda cell: per_request(cpu_ns(cell.services), cell),
        better=LESS,
        label=message("Service CPU"),
        unit=CPU_TIME,
        rank=6,
        brief=message("service"),
        over=CPU,
    ),
    Metric(
        "client_cpu_ns_per_request",
        "CPU time of all client processes for each answered request",
        lambda cell: per_request(cpu_ns(cell.clients), cell),
        better=LESS,
        label=message("Client CPU"),
        unit=CPU_TIME,
        rank=7,
        brief=message("client"),
        over=CPU,
    ),
    Metric(
        "beside_cpu_ns_per_request",
        "CPU time of the programs beside the services, such as their database, for each "
        "answered request",
        lambda cell: per_request(sum(cell.beside.values()), cell) if cell.beside else None,
        better=LESS,
        label=message("CPU of programs beside the service"),
        unit=CPU_TIME,
        rank=10,
        brief=message("programs beside"),
        over=CPU,
    ),
    Metric(
        "service_cores",
        "CPU cores that all service processes used together",
        lambda cell: cores_used(cell, cell.services),
        better=LESS,
        label=message("Service CPU"),
        unit=CORES,
    ),
    Metric(
        "service_memory_bytes",
        "memory of all service processes: proportional set size, or else peak resident memory",
        lambda cell: memory_bytes(cell.services),
        better=LESS,
        label=message("Memory"),
        unit=MEMORY,
    ),
    Metric(
        "wrong",
        "answers that were not as expected",
        lambda cell: cell.wrong,
        better=LESS,
        label=message("Wrong"),
    ),
    Metric(
        "errors",
        "requests that failed",
        lambda cell: sum(cell.errors.values()),
        better=LESS,
        label=message("Errors"),
    ),
)
METRICS: Mapping[str, Metric] = {one.row_key: one for one in _ALL}
# Row.columns (analysis/cell_index.py) has their values, so *read* returns None
OF_ROWS = (  # numbers that only a row has
    Metric(
        "ratio_to_first_runtime",
        "throughput divided by that of the first runtime, paired by block",
        lambda cell: None,
        better=MORE,
        label=message("Ratio"),
        unit=HUNDREDTHS,
        rank=1,
    ),
    Metric(
        "blocks_ok",
        "number of blocks that are ok and count",
        lambda cell: None,
        label=message("Blocks ok"),
        rank=8,
        brief=message("ok"),
        over=message("blocks"),
    ),
)
THROUGHPUT = METRICS["requests_per_s"]
# the metrics of Row.figures: those that some table shows
LABELLED = [metric for metric in METRICS.values() if metric.label]
# by the keys of Row.columns
ROW_METRICS: Mapping[str, Metric] = {metric.row_key: metric for metric in (*LABELLED, *OF_ROWS)}


def pooled(good: Sequence[CellResult]) -> set[str]:
    """Return the percentiles that a row has of all its blocks together, such as "p99".

    good: the row's cells that are ok
    """
    return {metric.percentile for metric in METRICS.values() if metric.is_pooled(good)}
