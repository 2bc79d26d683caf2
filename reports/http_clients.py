"""The record of the experiment http-clients: what each client's workers did at once, and what the GIL does to that.

LMean is the mean time of a worker's loop, Bench the time from starting the workers to the end of the last one, as the
seed has them. Bench / LMean is the serialisation: 1 where all work at once, the number of workers where one works
after the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log
from statistics import mean, median
from typing import Any

from core.result import CellResult, Run
from core.runtime import NATIVE
from reports.absent import absent_lines
from reports.arrangement import shown, varying
from reports.markdown import markdown_table
from reports.seed_http import seed_tables
from reports.standings import Short, share_text
from reports.stats import Estimate, effect
from reports.summary import Row

SAMPLES_FOR_P999 = 10_000
MOST_SHOWN = 99.0  # an interval of few blocks may end far beyond the number of workers
HEADS = (
    "client",
    "runtime",
    "async/sync",
    "Mean (ms)",
    "P99 (ms)",
    "P999 (ms)",
    "Max (ms)",
    "LMean (ms)",
    "Bench (ms)",
    "serialisation [95 %]",
    "in flight",
    "connect (ms)",
)
HOW = (
    "Mean, P99, P999 and Max are of single requests, nearest rank, of all blocks together; P999 needs 10,000 samples. "
    "LMean and Bench are medians over the blocks. Serialisation is Bench / LMean: 1 where all workers work at once. A "
    "worker that holds the GIL is asked for it after 5 ms, so loops much longer than that take turns, all last as long "
    "as Bench, and their serialisation is near 1 although one works at a time: that shows in the number in flight, the "
    "median latency x requests / Bench. Few requests have a turn's wait in them, and the median none. The connect is "
    "apart, and no request of the warm-up is counted."
)
HELD, RELEASED, UNDECLARED = "http-beast-held", "http-beast-released", "http-beast-undeclared"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row and what it says of its workers. Times in ns, medians over the blocks."""

    row: Row
    client: str
    lmean_ns: float
    bench_ns: float
    serialisation: Estimate
    in_flight: float

    @property
    def is_async(self) -> bool:
        """Whether its workers are tasks of one thread."""
        return any(word in self.row.system for word in ("async", "aiohttp", "reqwest-native"))


def lines_of(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Line]:
    """Every row whose clients told their workers' times."""
    return [_line(row, titles) for row in rows if row.good and all(_workers(cell) for cell in row.good)]


def _line(row: Row, titles: Mapping[str, str]) -> Line:
    return Line(
        row=row,
        client=titles.get(row.system, row.system),
        lmean_ns=median(mean(_workers(cell)) for cell in row.good),
        bench_ns=median(_bench_ns(cell) for cell in row.good),
        serialisation=_serialisation(effect([log(_bench_ns(cell) / mean(_workers(cell))) for cell in row.good])),
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


def _serialisation(found: Estimate) -> Estimate:
    """*found*, of logarithms, as a ratio. Bench is no shorter than any loop, so no interval goes below 1."""
    value, high = exp(found.value), exp(found.high) if isfinite(found.high) else found.high
    low = exp(found.low) if isfinite(found.low) else 0.0
    return Estimate(value=value, low=min(value, max(1.0, low)), high=high, count=found.count)


def http_clients_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: the story, a table for each setting, the runtimes side by side, the seed's tables."""
    told = "\n".join(f"- {text}" for text in sentences(run, rows, titles))
    parts = [f"# {run.plan['name']}: {run.run_id}", told]
    for setting, some in by_setting(lines_of(rows, titles)).items():
        parts += [f"## {setting or 'All clients'}", markdown_table(HEADS, [figures(one) for one in some], {*HEADS[3:]})]
        parts += ["### Runtimes side by side: Bench (ms) / serialisation", side_by_side(some)]
    return "\n\n".join([*parts, HOW, *seed_tables()]) + "\n"


def by_setting(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The lines by the parameters that vary, in words."""
    names = varying([one.row for one in lines])
    found: dict[str, list[Line]] = {}
    for one in lines:
        label = ", ".join(f"{name} {value}" for name, value in shown(one.row, names).items())
        found.setdefault(label, []).append(one)
    return found


def figures(one: Line) -> list[str]:
    """A line's figures for HEADS."""
    latency = one.row.latency
    connect = [cell.connect["mean_ns"] for cell in one.row.good if cell.connect.get("count")]
    return [
        one.client,
        one.row.runtime,
        "async" if one.is_async else "sync",
        _ms(latency.total_ns / latency.count),
        _ms(latency.quantile(0.99)),
        _ms(latency.quantile(0.999)) if latency.count >= SAMPLES_FOR_P999 else "-",
        _ms(latency.max_ns),
        _ms(one.lmean_ns),
        _ms(one.bench_ns),
        serialisation_text(one.serialisation),
        f"{one.in_flight:.1f}",
        _ms(median(connect)) if connect else "-",
    ]


def serialisation_text(found: Estimate) -> str:
    """7.02 [6.50, 7.40]; the end of an interval that says no more is '> 99'; without one for too few blocks."""
    if not MOST_SHOWN < found.high < inf:
        return share_text(found)
    return f"{found.value:.2f} [{found.low:.2f}, > {MOST_SHOWN:.0f}]"


def _ms(value_ns: float) -> str:
    return f"{value_ns / 1e6:,.2f}"


def side_by_side(some: Sequence[Line]) -> str:
    """Markdown: a client a line, a runtime a column."""
    runtimes = list(dict.fromkeys(one.row.runtime for one in some))
    texts = {(one.client, one.row.runtime): f"{_ms(one.bench_ns)} / {one.serialisation.value:.2f}" for one in some}
    clients = list(dict.fromkeys(one.client for one in some))
    table = [[client, *(texts.get((client, runtime), "-") for runtime in runtimes)] for client in clients]
    return markdown_table(["client", *runtimes], table, set(runtimes))


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """What a terminal of 80 columns has room for: a table for each setting."""
    heads = ("client", "runtime", "mean ms", "Bench ms", "serial", "in flight")
    return [
        Short(
            title=setting or "All clients",
            heads=heads,
            lines=tuple(
                (_brief(line[0]), line[1], line[3], line[8], line[9].split(" ")[0], line[10])
                for line in map(figures, some)
            ),
        )
        for setting, some in by_setting(lines_of(rows, titles)).items()
    ]


def _brief(client: str) -> str:
    """Beast (GIL held), of 'Python over Beast (GIL held)'."""
    return client.removeprefix("Python ").removeprefix("over ")


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """The story of each setting from the run's own figures, and what is not there."""
    settings = by_setting(lines_of(rows, titles))
    told = [text for setting, some in settings.items() for text in _story(setting, some)]
    return [*(told if settings else ["Nothing was measured."]), *absent_lines(run, titles)]


def _story(setting: str, some: Sequence[Line]) -> list[str]:
    found = {(one.row.system, one.row.runtime): one for one in some}
    where = f" ({setting})" if setting else ""
    parts = [
        _across(found, HELD, f"Beast, GIL held through I/O{where}", _serial),
        _across(found, RELEASED, f"Beast, GIL released through I/O{where}", _serial),
        _across(found, UNDECLARED, f"Beast, GIL held, module not declared for free-threading{where}", _serial),
        _beside_native(found, where),
    ]
    return [text for text in parts if text]


def _serial(one: Line) -> str:
    return f"serialisation {serialisation_text(one.serialisation)}, {one.in_flight:.1f} in flight"


def _across(found: Mapping[tuple[str, str], Line], system: str, name: str, say: Callable[[Line], str]) -> str:
    """One client under every runtime."""
    texts = [f"{runtime}: {say(one)}" for (of, runtime), one in found.items() if of == system]
    return f"{name} - {'; '.join(texts)}." if texts else ""


def _beside_native(found: Mapping[tuple[str, str], Line], where: str) -> str:
    """Bench of the released build beside that of the native program."""
    native = found.get(("http-beast-native", NATIVE))
    if native is None:
        return ""
    texts = [
        f"{one.bench_ns / native.bench_ns:.2f} under {runtime}"
        for (of, runtime), one in found.items()
        if of == RELEASED
    ]
    return f"Bench of Beast released over that of native Beast{where}: {', '.join(texts)}." if texts else ""


def timeline(one: Line) -> list[list[tuple[int, int]]]:
    """Of its last block: for each worker, start and end of its first requests, ns from the release."""
    told: Sequence[Mapping[str, Any]] = one.row.good[-1].clients
    return [[(start, end) for start, end in worker] for client in told for worker in client.get("timeline", ())]
