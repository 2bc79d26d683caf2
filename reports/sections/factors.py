"""What the ratio of a step is made of: how many cores were in use, and how much CPU time a request took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log
from statistics import fmean, median
from typing import Any

from core.messages import Message, message
from core.result import CellResult
from reports.document.model import Column, Datum, Group, Line, Section, Table, estimated, traced, words
from reports.document.values import ratio
from reports.rows.comparisons import OVER_ALL, Comparison
from reports.rows.summary import cpu_ns, setting_key
from reports.statistics.stats import Estimate, effect, mean_over_cells
from reports.view import View

PLACE = 45
CORES, CPU = message("Cores used"), message("CPU per request")
SIDES: Mapping[str, Message] = {
    "both": message("both sides"),
    "service": message("service"),
    "client": message("client"),
}
STEPS = ("version", "build", "lock", "whole", "other")


@dataclass(frozen=True, kw_only=True)
class Factors:
    """Throughput of the numerator over the denominator's = cores_used x cpu_per_request, each with its interval.

    cores_used: ratio of the cores in use; cpu_per_request: of CPU time per request, inverted: above 1 it takes less
    """

    cores_used: Estimate
    cpu_per_request: Estimate


def section(view: View) -> Section:
    """A line for each step of each setting, those over all settings first."""
    compared = [one for one in view.compared if one.step in STEPS and one.ratio is not None]
    known = [(one, factors) for one in compared if (factors := factors_of(one, view))]
    ordered = sorted(known, key=lambda pair: pair[0].system != OVER_ALL)
    return Section(
        key="factors",
        title=message("What the ratio is made of"),
        sentences=tuple(_sentence(one, factors["both"], view) for one, factors in ordered if one.system == OVER_ALL)
        or tuple(_sentence(one, factors["both"], view) for one, factors in ordered),
        tables=(_table(ordered, view),),
        notes=(
            message(
                "Throughput = cores used / CPU time per request, so the ratio of a step is the product of two: above 1 "
                "more cores were in use, or a request took less CPU time. Paired by block, with 95 percent intervals."
            ),
        ),
    )


def factors_of(comparison: Comparison, view: View) -> dict[str, Factors]:
    """By side: both, service and client; empty where a cell does not report its CPU time."""
    settings = [(one["system"], one["params"]) for one in comparison.settings]
    pairs = [_cells(*one, comparison, view) for one in settings or [(comparison.system, comparison.params)]]
    made = {}
    for side in SIDES:
        logs = [_logs(before, after, side) for before, after in pairs]
        cores = mean_over_cells([cores for cores, _ in logs])
        cpu = mean_over_cells([cpu for _, cpu in logs])
        if cores and len(cores) == len(cpu):
            made[side] = _product(list(cores.values()), list(cpu.values()))
    return made if len(made) == len(SIDES) else {}


def _cells(
    system: str, params: Mapping[str, Any], comparison: Comparison, view: View
) -> tuple[dict[int, CellResult], dict[int, CellResult]]:
    """The cells of both arms in a setting, by block."""
    rows = {row.runtime: row for row in view.rows if setting_key(row.system, row.params) == setting_key(system, params)}
    arms = (rows.get(comparison.denominator), rows.get(comparison.numerator))
    before, after = ({cell.block: cell for cell in row.good} if row else {} for row in arms)
    return before, after


def _logs(
    before: Mapping[int, CellResult], after: Mapping[int, CellResult], side: str
) -> tuple[dict[int, float], dict[int, float]]:
    """Log-ratios of cores used, and of CPU time per request (inverted), of the blocks that both arms have."""
    cores: dict[int, float] = {}
    cpu: dict[int, float] = {}
    for block in sorted(before.keys() & after.keys()):
        spent = [_spent_ns(cell, side) for cell in (before[block], after[block])]
        if all(spent) and before[block].answered and after[block].answered:
            used = [ns / cell.wall_ns for ns, cell in zip(spent, (before[block], after[block]), strict=True)]
            each = [ns / cell.answered for ns, cell in zip(spent, (before[block], after[block]), strict=True)]
            cores[block], cpu[block] = log(used[1] / used[0]), log(each[0] / each[1])
    return cores, cpu


def _spent_ns(cell: CellResult, side: str) -> int:
    """CPU time of a side of a cell, or of both; 0 where it is not known."""
    sides = {"service": [cell.services], "client": [cell.clients], "both": [cell.services, cell.clients]}[side]
    spent = [cpu_ns(processes) for processes in sides]
    return sum(ns or 0 for ns in spent) if all(spent) else 0


def _product(cores: Sequence[float], cpu: Sequence[float]) -> Factors:
    """Both factors, so that they multiply to the median ratio: what means and medians differ by is shared evenly."""
    whole = median(one + other for one, other in zip(cores, cpu, strict=True))
    rest = (whole - fmean(cores) - fmean(cpu)) / 2
    return Factors(cores_used=_estimate(cores, fmean(cores) + rest), cpu_per_request=_estimate(cpu, fmean(cpu) + rest))


def _estimate(logs: Sequence[float], value: float) -> Estimate:
    seen = effect(list(logs))
    low, high = min(seen.low, value), max(seen.high, value)
    ends = (exp(low) if isfinite(low) else 0.0, exp(high) if isfinite(high) else high)
    return Estimate(value=exp(value), low=ends[0], high=ends[1], count=seen.count)


def _sentence(comparison: Comparison, factors: Factors, view: View) -> Message:
    sentence = message(
        "{where}, {step}: {ratio} x = {cores} x the cores used times {cpu} x less CPU time per request.",
        where=view.settings.short(comparison.system, comparison.params), step=comparison.label,
        ratio=ratio(factors.cores_used.value * factors.cpu_per_request.value),
        cores=ratio(factors.cores_used.value), cpu=ratio(factors.cpu_per_request.value),
    )  # fmt: skip
    return traced(sentence, view.traces.of(comparison))


def _table(known: Sequence[tuple[Comparison, dict[str, Factors]]], view: View) -> Table:
    heads = [message("{factor}, {side}", factor=name, side=side) for side in SIDES.values() for name in (CORES, CPU)]
    groups: dict[Message, list[Line]] = {}
    for comparison, factors in known:
        setting = view.settings.name(comparison.system, comparison.params)
        groups.setdefault(setting, []).append(_line(comparison, factors, view))
    return Table(
        name=message("Factors of each step"),
        columns=(Column(head=message("Step")), *(Column(head=head, is_number=True) for head in heads)),
        groups=tuple(Group(head=head, lines=tuple(lines)) for head, lines in groups.items()),
    )


def _line(comparison: Comparison, factors: Mapping[str, Factors], view: View) -> Line:
    cells = view.traces.of(comparison)
    numbers: list[Datum] = []
    for side in SIDES:
        numbers.append(estimated(factors[side].cores_used, ratio, cells, f"cores used {side}"))
        numbers.append(estimated(factors[side].cpu_per_request, ratio, cells, f"cpu per request {side}"))
    return words(comparison.label, cells=cells, leads=True), *numbers
