"""What each row of the HTTP clients says of its workers: how long they took, and how much of it at once. Pure.

LMean is the mean time of a worker's loop, Bench the time from starting the workers to the end of the last one, as the
seed has them. Bench / LMean is the serialisation: 1 where all work at once, the number of workers where one works
after the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import mean, median
from typing import Any

from core.errors import BadInput
from core.messages import Message
from core.result import CellResult
from core.runtime import NATIVE, RuntimeName
from reports.document.model import Form, estimate
from reports.document.values import hundredths
from reports.facts.cells import Row
from reports.facts.settings import parameter_values, varying
from reports.facts.standings import titled
from reports.facts.traces import of_rows
from reports.statistics.stats import Estimate, effect, paired_effect

HELD, RELEASED, UNDECLARED = "http-beast-held", "http-beast-released", "http-beast-undeclared"
BEAST = "http-beast-native"
MOST_SHOWN = 99.0  # an interval of few blocks may end far beyond the number of workers


@dataclass(frozen=True, kw_only=True)
class ClientRow:
    """A row and what it says of its workers. Times in ns, medians over the blocks.

    worker: thread or task; empty where the run does not say
    """

    row: Row
    client: Message
    worker: str
    lmean_ns: float
    bench_ns: float
    serialisation: Estimate
    in_flight: float

    @property
    def runtime(self) -> str:
        """The runtime that the client ran under."""
        return self.row.runtime

    @property
    def groups(self) -> str:
        """The cells that it comes from."""
        return of_rows([self.row])

    @property
    def gil_enabled(self) -> bool | None:
        """Whether its runtime has a GIL by its name; None for native programs."""
        return None if self.runtime == NATIVE else RuntimeName.parse(self.runtime).gil_enabled


def client_rows(rows: Sequence[Row], titles: Mapping[str, str]) -> list[ClientRow]:
    """Every row whose clients say their workers' times, but for arms that take part a second time."""
    complete = [row for row in rows if row.good and all(_workers(cell) for cell in row.good)]
    return [_client_row(row, titles) for row in complete if _is_runtime(row.runtime)]


def _is_runtime(arm: str) -> bool:
    try:
        RuntimeName.parse(arm)
    except BadInput:
        return False
    return True


def _client_row(row: Row, titles: Mapping[str, str]) -> ClientRow:
    return ClientRow(
        row=row,
        client=titled(row.system, titles),
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


def _ratio(logarithm: Estimate, least: float = 0.0) -> Estimate:
    """As a ratio. Bench is no shorter than any loop, so no serialisation goes below 1."""
    ratio = logarithm.ratio
    return replace(ratio, low=min(ratio.value, max(least, ratio.low)))


def bench_ratio(row: ClientRow, base: ClientRow) -> Estimate | None:
    """Bench of *row* over that of *base*, paired by block, with its 95 % interval; None where no block has both."""
    logarithm = paired_effect(_benches_ns(row), _benches_ns(base))
    return _ratio(logarithm) if logarithm else None


def _benches_ns(client: ClientRow) -> dict[int, int]:
    return {cell.block: _bench_ns(cell) for cell in client.row.good}


def by_setting(clients: Sequence[ClientRow]) -> dict[str, list[ClientRow]]:
    """By the parameters that vary: {'NUM_REQUESTS_PER_CLIENT 1000': ...}."""
    names = varying([client.row for client in clients])
    settings: dict[str, list[ClientRow]] = {}
    for client in clients:
        settings.setdefault(parameter_values(client.row.params, names), []).append(client)
    return settings


def ratio_text(ratio: Estimate) -> str:
    """7.02 [6.50, 7.40]; the end of an interval that says no more is '> 99'."""
    return estimate(ratio, up_to_most(ratio.value))


def up_to_most(value: float) -> Form:
    """Two decimals, but for what is beyond MOST_SHOWN and *value*."""
    most = max(MOST_SHOWN, value)
    return lambda shown: f"> {most:.0f}" if shown > most else hundredths(shown)


def timeline(client: ClientRow) -> list[list[tuple[int, int]]]:
    """Of its last block: for each worker, start and end of its first requests, ns from the release."""
    processes: Sequence[Mapping[str, Any]] = client.row.good[-1].clients
    return [[(start, end) for start, end in worker] for process in processes for worker in process.get("timeline", ())]


def telling_timelines(clients: Sequence[ClientRow]) -> list[ClientRow]:
    """Those whose timelines explain the rest: held and released under the newest default build, held without a GIL."""
    known = [client for client in clients if timeline(client)]
    held, released = ([client for client in known if client.row.system == system] for system in (HELD, RELEASED))
    chosen = [*_newest(held, free_threaded=False), *_newest(released, free_threaded=False)]
    return chosen + [client for client in _newest(held, free_threaded=True) if not client.gil_enabled]


def _newest(clients: Sequence[ClientRow], *, free_threaded: bool) -> list[ClientRow]:
    """The one under the newest version of such a build; of two of the same, the one without a GIL."""
    names = [(RuntimeName.parse(client.runtime), client) for client in clients]
    fitting = [(name, client) for name, client in names if name.free_threaded == free_threaded]
    fitting.sort(key=lambda pair: (int(pair[0].version.removeprefix("3.")), not pair[0].gil_enabled))
    return [client for _, client in fitting[-1:]]
