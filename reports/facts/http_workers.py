"""What each row of the HTTP clients tells of its workers: how long they took, and how many requests were under way.

LMean is the mean time of a worker's loop, Bench the time from starting the workers to the end of the last one, as the
seed has them. Bench / LMean is the serialisation: 1 if all workers work at once, the number of workers if one works
after the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import mean, median

from core.messages import Message
from core.result import CellResult
from core.runtime import RuntimeName
from reports.facts.arrangement import varying
from reports.facts.settings import parameter_values
from reports.facts.standings import titled
from reports.facts.summary import Row
from reports.facts.traces import of_row
from reports.statistics.stats import Estimate, effect, paired_effect

HELD, RELEASED, UNDECLARED = "http-beast-held", "http-beast-released", "http-beast-undeclared"
BEAST = "http-beast-native"


@dataclass(frozen=True, kw_only=True)
class ClientRow:
    """A row and what it tells of its workers. Times are in ns, medians over the blocks. benches_ns: Bench by block.

    in_flight: median latency x requests / Bench: how many requests were under way. The mean latency would not do: a
        thread that waits for the GIL mostly waits within a request, so the sum of all latencies is that of the loops.
    """

    row: Row
    client: Message
    lmean_ns: float
    benches_ns: Mapping[int, int]
    serialisation: Estimate
    in_flight: float

    @property
    def bench_ns(self) -> float:
        """Return Bench."""
        return median(self.benches_ns.values())

    @property
    def mean_ns(self) -> float:
        """Return the mean latency of all requests."""
        return self.row.latency.total_ns / self.row.latency.count

    @property
    def runtime(self) -> str:
        """Return the runtime that the client ran under."""
        return self.row.runtime

    @property
    def cells(self) -> str:
        """Return the groups of its cells."""
        return of_row(self.row)

    @property
    def build(self) -> RuntimeName:
        """Return what the runtime's name says of it."""
        return RuntimeName.parse(self.runtime)

    @property
    def timeline(self) -> list[list[tuple[int, int]]]:
        """Return start and end of the first requests of each worker in the last block, ns from the release."""
        return [worker for client in self.row.good[-1].clients for worker in client.get("timeline", ())]


def client_rows(rows: Sequence[Row], titles: Mapping[str, str]) -> list[ClientRow]:
    """Return every row whose clients tell their workers' times, without arms that take part a second time."""
    firsts = [row for row in rows if row.good and row.runtime == row.good[0].runtime]
    return [_client_row(row, titles) for row in firsts if all(map(_loops_ns, row.good))]


def _client_row(row: Row, titles: Mapping[str, str]) -> ClientRow:
    benches_ns = {cell.block: max(client["bench_ns"] for client in cell.clients) for cell in row.good}
    ratio = effect([log(benches_ns[cell.block] / mean(_loops_ns(cell))) for cell in row.good]).ratio
    return ClientRow(
        row=row,
        client=titled(row.system, titles),
        lmean_ns=median(mean(_loops_ns(cell)) for cell in row.good),
        benches_ns=benches_ns,
        # Bench is no shorter than any loop, so no serialisation goes below 1.
        serialisation=replace(ratio, low=min(ratio.value, max(1.0, ratio.low))),
        in_flight=median(cell.latency["p50_ns"] * cell.latency["count"] / benches_ns[cell.block] for cell in row.good),
    )


def _loops_ns(cell: CellResult) -> list[int]:
    """Return the loop time of every worker."""
    return [loop_ns for client in cell.clients for loop_ns in client.get("workers_ns", ())]


def bench_ratio(row: ClientRow, base: ClientRow) -> Estimate | None:
    """Return Bench of *row* over that of *base*, paired by block; None if no block has both."""
    logarithm = paired_effect(row.benches_ns, base.benches_ns)
    return logarithm.ratio if logarithm else None


def by_setting(clients: Sequence[ClientRow]) -> dict[str, list[ClientRow]]:
    """Return clients by the parameters that vary: {'NUM_REQUESTS_PER_CLIENT 1000': ...}."""
    names = varying([client.row for client in clients])
    settings: dict[str, list[ClientRow]] = {}
    for client in clients:
        settings.setdefault(parameter_values(client.row.params, names), []).append(client)
    return settings


def telling_timelines(clients: Sequence[ClientRow]) -> list[ClientRow]:
    """Return those that explain the rest: held and released under the newest default build, held without a GIL."""
    chosen = []
    for system, has_gil in ((HELD, True), (RELEASED, True), (HELD, False)):
        fitting = [
            client
            for client in clients
            if client.timeline
            and client.row.system == system
            and (client.build.free_threaded, client.build.gil_enabled) == (not has_gil, has_gil)
        ]
        chosen += sorted(fitting, key=lambda client: int(client.build.version.removeprefix("3.")))[-1:]
    return chosen
