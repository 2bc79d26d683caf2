"""A run's cells grouped over its blocks: one row per system, parameters and runtime. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from textwrap import shorten
from typing import Any

from core.cell import Value
from core.histogram import Histogram
from core.result import CellResult, Run
from core.runtime import NATIVE

REASON_CHARACTERS = 200


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Medians over the blocks that are ok. Latencies are of all their requests together.

    completion_ns: of each block, the median over its clients; completion_max_ns: the maximum over them
    service_cpu_ns, client_cpu_ns: user and system time of all services, or clients, per request
    None where the cells do not say, or where there are too few requests for the percentile.
    """

    completion_ns: int
    completion_max_ns: int
    wall_ns: int
    requests_per_s: float
    p50_ns: int | None
    p99_ns: int | None
    service_cpu_ns: float | None
    client_cpu_ns: float | None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One system with one set of parameters under one runtime, over all blocks.

    cells: what was measured, in the order in which it ran; planned: how many blocks there should be
    figures: None if no cell is ok
    ratio: completion time under the first runtime present over the one here; above 1 this one is faster
    title: what the plan calls it, or ""
    """

    system: str
    params: Mapping[str, Value]
    runtime: str
    title: str = ""
    planned: int
    cells: tuple[CellResult, ...]
    latency: Histogram
    figures: Figures | None
    ratio: float | None = None

    @property
    def good(self) -> list[CellResult]:
        """The cells that are ok: all figures come from these alone."""
        return [cell for cell in self.cells if cell.status == "ok"]

    @property
    def bad(self) -> list[CellResult]:
        """The cells that failed or are invalid."""
        return [cell for cell in self.cells if cell.status != "ok"]

    @property
    def state(self) -> str:
        """ok (at least one block is), failed, invalid or not measured."""
        if self.good:
            return "ok"
        return self.bad[0].status if self.bad else "not measured"

    @property
    def trouble(self) -> str:
        """How many of its blocks are not ok, and the first reason; empty if all are."""
        parts = []
        for status in ("failed", "invalid"):
            why = reasons(cell for cell in self.bad if cell.status == status)
            count = sum(cell.status == status for cell in self.bad)
            more = f" (and {len(why) - 1} more reasons, in cells.csv)" if len(why) > 1 else ""
            parts += [f"{count} of {len(self.cells)} blocks {status}: {why[0]}{more}"] if why else []
        return ". ".join(parts)


def reasons(cells: Iterable[CellResult]) -> list[str]:
    """The reasons of cells that are not ok, each once, in short: of several lines the first and the last."""
    return list(dict.fromkeys(_short(str(cell.reason)) for cell in cells))


def _short(reason: str) -> str:
    said = "".join(one for one in reason if one.isprintable() or one.isspace())
    lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()] or ["no reason given"]
    ends = [lines[0], lines[-1]] if len(lines) > 1 else lines
    return " [...] ".join(shorten(line, REASON_CHARACTERS, placeholder=" [...]") for line in ends)


def completion_ns(cell: CellResult) -> int:
    """Median over the clients of the time each took for all of its requests."""
    times_ns: list[int] = [client["completion_ns"] for client in cell.clients]
    return round(median(times_ns)) if times_ns else 0


def completion_max_ns(cell: CellResult) -> int:
    """The time that the slowest client took for all of its requests."""
    return int(max((client["completion_ns"] for client in cell.clients), default=0))


def requests_per_s(cell: CellResult) -> float:
    """Requests answered in a second, from the first release to the last answer; 0 where nothing was timed."""
    return cell.answered * 1e9 / cell.wall_ns if cell.wall_ns else 0.0


def longest_s(all_rows: Iterable[Row]) -> float:
    """The longest completion time of a block, in seconds; 1 if there is none."""
    return max((completion_ns(cell) / 1e9 for row in all_rows for cell in row.good), default=1.0)


def same_work(all_rows: Iterable[Row]) -> bool:
    """Whether every cell had as many requests, so that completion times can be compared between all rows."""
    return len({cell.requests for row in all_rows for cell in row.cells}) <= 1


def cpu_ns(processes: Sequence[Mapping[str, Any]], kind: str = "") -> int | None:
    """CPU time of *processes* in all; kind is user or system, or "" for both. None if one does not say."""
    names = [f"cpu_{kind}_ns"] if kind else ["cpu_user_ns", "cpu_system_ns"]
    if not processes or any(name not in one for one in processes for name in names):
        return None
    spent_ns: list[int] = [one[name] for one in processes for name in names]
    return sum(spent_ns)


def runtimes(run: Run) -> list[str]:
    """The runtimes that are present, in the plan's order."""
    return [name for name in run.plan["runtimes"] if name in run.runtimes]


def reference(run: Run) -> list[str]:
    """The runtime that ratios refer to: the first that is present and no limit. Empty if there is none."""
    return [name for name in runtimes(run) if name != NATIVE][:1]


def rows(run: Run) -> list[Row]:
    """Every row of the plan, system by system, measured or not, and whatever else the run holds."""
    found: dict[tuple[str, str, str], list[CellResult]] = {}
    for cell in run.cells:
        found.setdefault((*setting_key(cell.system, cell.params), cell.arm), []).append(cell)
    settings = _settings(run)
    first = reference(run)
    made: list[Row] = []
    planned = {setting_key(row["system"], row["params"]): row.get("runtimes") for row in run.plan["rows"]}
    for setting, (params, title) in settings.items():
        measured = [arm for *where, arm in found if tuple(where) == setting]
        arms = _arms(run, planned.get(setting), measured)
        group = [
            _row(setting[0], params, title, arm, found.get((*setting, arm), []), run.plan["blocks"]) for arm in arms
        ]
        made += _with_ratios(group, first, bool(run.plan.get("method", {}).get("duration_s")))
    return made


def setting_key(system: str, params: Mapping[str, Value]) -> tuple[str, str]:
    """What rows have in common that differ in the runtime alone."""
    return system, json.dumps(params, sort_keys=True)


def _settings(run: Run) -> dict[tuple[str, str], tuple[Mapping[str, Value], str]]:
    """Parameters and title of every row of the plan, then of cells that are no part of it; systems together."""
    planned = [(row["system"], row["params"], row.get("title", "")) for row in run.plan["rows"]]
    every = planned + [(cell.system, cell.params, "") for cell in run.cells]
    systems = list(dict.fromkeys(system for system, _, _ in every))
    settings: dict[tuple[str, str], tuple[Mapping[str, Value], str]] = {}
    for system, params, title in sorted(every, key=lambda one: systems.index(one[0])):
        settings.setdefault(setting_key(system, params), (params, title))
    return settings


def _arms(run: Run, planned: Sequence[str] | None, measured: Iterable[str]) -> list[str]:
    """Of the runtimes present those that the setting has cells under, then arms that go by another name."""
    names = [name for name in runtimes(run) if planned is None or name in planned]
    return list(dict.fromkeys([*names, *measured]))


def _row(
    system: str, params: Mapping[str, Value], title: str, arm: str, cells: Sequence[CellResult], planned: int
) -> Row:
    good = [cell for cell in cells if cell.status == "ok"]
    latency = Histogram()
    for cell in good:
        if cell.latency:
            latency.merge(Histogram.from_json(cell.latency))
    return Row(
        system=system,
        params=params,
        title=title,
        runtime=arm,
        planned=planned,
        cells=tuple(cells),
        latency=latency,
        figures=_figures(good, latency) if any(cell.clients for cell in good) else None,
    )


def _figures(good: Sequence[CellResult], latency: Histogram) -> Figures:
    percentiles = latency.to_json()
    return Figures(
        completion_ns=round(median(completion_ns(cell) for cell in good)),
        completion_max_ns=round(median(completion_max_ns(cell) for cell in good)),
        wall_ns=round(median(cell.wall_ns for cell in good)),
        requests_per_s=median(map(requests_per_s, good)),
        p50_ns=percentiles.get("p50_ns"),
        p99_ns=percentiles.get("p99_ns"),
        service_cpu_ns=_per_request([(cpu_ns(cell.services), cell.requests) for cell in good]),
        client_cpu_ns=_per_request([(cpu_ns(cell.clients), cell.requests) for cell in good]),
    )


def _per_request(spent: Sequence[tuple[int | None, int]]) -> float | None:
    known = [total / requests for total, requests in spent if total is not None]
    return median(known) if known else None


def _with_ratios(group: Sequence[Row], first: Sequence[str], timed: bool) -> list[Row]:
    """Rows that differ in the runtime alone, each with its ratio to the first runtime's, if that has a figure."""
    base = next((row.figures for row in group if row.runtime in first and row.figures), None)
    if base is None:
        return list(group)
    return [replace(row, ratio=_ratio(base, row.figures, timed)) if row.figures else row for row in group]


def _ratio(base: Figures, figures: Figures, timed: bool) -> float:
    """Completion time of *base* over the other's; of requests/s, where all cells were timed for the same duration."""
    return figures.requests_per_s / base.requests_per_s if timed else base.completion_ns / figures.completion_ns
