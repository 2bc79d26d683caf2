"""Where the time of a request goes, on both sides, as the operating system and the handler counted it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Any

from core.messages import AND, Message, listed, message
from core.result import CellResult


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Of one cell, or medians over its blocks. us per request, but for switches (per request) and memory (bytes).

    calc: the calc loop, as the handlers timed it; waiting: from sending a request until its handler began
    run_queue: ready to run, but without a core; user and system: CPU time
    rss: peak resident memory of all processes of a side together; pss: their proportional share at the end
    None where the cell does not say.
    """

    calc: float | None
    waiting: float | None
    service_user: float | None
    service_system: float | None
    service_run_queue: float | None
    service_voluntary: float | None
    service_involuntary: float | None
    service_rss: float | None
    service_pss: float | None
    client_user: float | None
    client_system: float | None
    client_run_queue: float | None
    client_voluntary: float | None
    client_involuntary: float | None
    client_rss: float | None
    client_pss: float | None


TIMES: Mapping[str, Message] = {
    "calc": message("the calc loop"),
    "waiting": message("waiting for a worker"),
    "service_user": message("the service's user time"),
    "service_system": message("the service's kernel time"),
    "service_run_queue": message("the service's wait for a core"),
    "client_user": message("the clients' user time"),
    "client_system": message("the clients' kernel time"),
    "client_run_queue": message("the clients' wait for a core"),
}
LEAST_US = 0.5


def costs_of(cell: CellResult) -> Costs:
    """The costs of one cell that is ok."""
    found: dict[str, float | None] = {
        "calc": cell.calc_ns / cell.answered / 1e3 if cell.calc_ns and cell.answered else None,
        "waiting": cell.waiting["mean_ns"] / 1e3 if cell.waiting else None,
    }
    for side, processes in (("service", cell.services), ("client", cell.clients)):
        found |= {
            f"{side}_user": _each(processes, "cpu_user_ns", cell.answered * 1e3),
            f"{side}_system": _each(processes, "cpu_system_ns", cell.answered * 1e3),
            f"{side}_run_queue": _each(processes, "run_queue_ns", cell.answered * 1e3),
            f"{side}_voluntary": _each(processes, "voluntary_switches", cell.answered),
            f"{side}_involuntary": _each(processes, "involuntary_switches", cell.answered),
            f"{side}_rss": _each(processes, "max_rss_bytes", 1),
            f"{side}_pss": _each(processes, "pss_bytes", 1),
        }
    return Costs(**found)


def _each(processes: Sequence[Mapping[str, Any]], key: str, divisor: float) -> float | None:
    if not processes or not divisor or any(key not in one for one in processes):
        return None
    total = sum(int(one[key]) for one in processes)
    return total / divisor


def median_costs(cells: Iterable[CellResult]) -> Costs | None:
    """Medians over the cells that are ok; None if there is none."""
    every = [costs_of(cell) for cell in cells if cell.status == "ok"]
    if not every:
        return None
    values = {
        one.name: [value for costs in every if (value := getattr(costs, one.name)) is not None] for one in fields(Costs)
    }
    return Costs(**{name: median(known) if known else None for name, known in values.items()})


def what_moved(before: Costs, after: Costs) -> Message:
    """Which two times of a request changed most from *before* to *after*; nothing if none did."""
    known = {name: (getattr(before, name), getattr(after, name)) for name in TIMES}
    changes = {name: (old, new) for name, (old, new) in known.items() if old is not None and new is not None}
    most = sorted(changes, key=lambda name: -abs(changes[name][1] - changes[name][0]))[:2]
    moved = [
        message("{time} {before:.1f} → {after:.1f} us", time=TIMES[name], before=old, after=new)
        for name in most
        for old, new in [changes[name]]
        if abs(new - old) >= LEAST_US
    ]
    return listed(moved, last=AND)


def saturation(cell: CellResult, cores: int) -> float | None:
    """CPU time of the clients over that of the cores they could use; None where the cell does not say, or of no cores.

    They could use all *cores*, but under a GIL one a process.
    """
    if cell.status != "ok" or not cell.wall_ns or not cores or not cell.clients:
        return None
    with_gil = any(client.get("gil_enabled_end", True) for client in cell.clients)
    usable = min(cores, len(cell.clients)) if with_gil else cores
    spent_ns = sum(int(client.get("cpu_user_ns", 0) + client.get("cpu_system_ns", 0)) for client in cell.clients)
    return float(spent_ns / (cell.wall_ns * usable))
