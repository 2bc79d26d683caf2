"""What a service takes at the least: the same answers alone in a loop, and what the native service takes. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from statistics import median
from typing import Any

from core.result import CellResult, Run
from core.runtime import NATIVE
from core.saved import SavedPlan
from reports.rows.summary import Row, cpu_ns, setting_key
from reports.statistics.stats import Estimate, effect


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Of a row CPU time per request, ns. service_ns: of its services; answer_ns: of answer() alone

    native_ns: of the native service at the same setting, None where it was not measured
    times: service_ns over the sum of the other two, the median over the blocks
    """

    row: Row
    native: Row | None
    service_ns: float
    answer_ns: float
    native_ns: float | None
    times: Estimate


def floors(run: Run, rows: Sequence[Row]) -> list[Floor]:
    """Of each row whose services answer as answer() does, where that was measured alone under its runtime."""
    answers_ns = {
        (floor["runtime"], floor["calc_target"], floor["payload_bytes"]): min(floor["rounds_ns"]) / floor["answers"]
        for floor in run.floors
        if "rounds_ns" in floor
    }
    framed = SavedPlan.from_json(run.plan).framed
    natives = {setting_key(row.system, row.params): row for row in rows if row.runtime == NATIVE and _spent_ns(row)}
    return [
        _floor(row, answers_ns[work], natives.get(setting_key(row.system, row.params)))
        for row in rows
        if row.system in framed and row.runtime != NATIVE and _spent_ns(row) and (work := _work(row)) in answers_ns
    ]


def _work(row: Row) -> tuple[Any, ...]:
    return row.good[0].runtime, row.params.get("CALC_TARGET"), row.params.get("PAYLOAD_BYTES")


def _floor(row: Row, answer_ns: float, native: Row | None) -> Floor:
    native_ns = median(_spent_ns(native)) if native else None
    least_ns = answer_ns + (native_ns or 0.0)
    spent_ns = _spent_ns(row)
    return Floor(
        row=row,
        native=native,
        service_ns=median(spent_ns),
        answer_ns=answer_ns,
        native_ns=native_ns,
        times=effect([log(each_ns / least_ns) for each_ns in spent_ns]).ratio,
    )


def _spent_ns(row: Row) -> list[float]:
    """CPU time of all services per request, of each block that tells it."""
    return [spent for cell in row.good if (spent := _each_ns(cell))]


def _each_ns(cell: CellResult) -> float:
    return (cpu_ns(cell.services) or 0) / cell.answered if cell.answered else 0.0
