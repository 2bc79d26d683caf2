"""What a request costs on both sides, as the operating system and the handler counted it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from core.messages import NOTHING, Message, message
from core.result import CellResult
from reports.document.model import Form
from reports.document.values import megabytes, tenths
from reports.facts.figures import cpu_ns

Costs = Mapping[str, float | None]  # by the name of a Cost; None if the cells do not say


@dataclass(frozen=True)
class Cost:
    """A figure of what requests cost: us or switches for each request, or bytes of all processes of a side.

    name, head: what the page names it by, and its column
    time:       what a sentence calls it, if it is a part of the time of a request
    side, key:  of a sum over processes: the field of CellResult that has them, and the key that is summed
    """

    name: str
    head: Message
    time: Message = NOTHING
    side: str = ""
    key: str = ""
    form: Form = tenths


_WAIT = "run_queue_ns"
TIMES = (
    Cost("calc", message("calc"), message("the calc loop")),
    Cost("service_user", message("user"), message("the service's user time"), "services", "cpu_user_ns"),
    Cost("service_system", message("kernel"), message("the service's kernel time"), "services", "cpu_system_ns"),
    Cost("waiting", message("waiting"), message("waiting for a worker")),
    Cost("client_user", message("client user"), message("the clients' user time"), "clients", "cpu_user_ns"),
    Cost("client_system", message("client kernel"), message("the clients' kernel time"), "clients", "cpu_system_ns"),
)
MORE = (
    Cost("service_run_queue", message("core wait"), message("the service's wait for a core"), "services", _WAIT),
    Cost("client_run_queue", message("client core wait"), message("the clients' wait for a core"), "clients", _WAIT),
    Cost("service_voluntary", message("vol. sw."), side="services", key="voluntary_switches"),
    Cost("service_involuntary", message("invol. sw."), side="services", key="involuntary_switches"),
    Cost("service_rss", message("service peak MB"), side="services", key="max_rss_bytes", form=megabytes),
    Cost("service_pss", message("service PSS MB"), side="services", key="pss_bytes", form=megabytes),
    Cost("client_rss", message("client peak MB"), side="clients", key="max_rss_bytes", form=megabytes),
)


def costs_of(cell: CellResult) -> Costs:
    """Return the costs of one cell that is ok.

    calc: the calc loop, as the handlers timed it; waiting: from sending a request until its handler began
    """
    waiting_ns = cell.waiting.get("mean_ns")
    return {
        "calc": cell.calc_ns / cell.answered / 1e3 if cell.calc_ns and cell.answered else None,
        "waiting": None if waiting_ns is None else waiting_ns / 1e3,
        **{cost.name: _sum(cost, cell) for cost in (*TIMES, *MORE) if cost.side},
    }


def _sum(cost: Cost, cell: CellResult) -> float | None:
    """Return the sum over the processes of a side, by its unit in us, for each request, or as it is."""
    counts = [process.get(cost.key) for process in getattr(cell, cost.side)]
    divisor = {"ns": cell.answered * 1e3, "switches": cell.answered, "bytes": 1}[cost.key.rpartition("_")[2]]
    return None if not counts or None in counts or not divisor else sum(counts) / divisor


def median_costs(cells: Iterable[CellResult]) -> Costs:
    """Return the medians over the cells that are ok; nothing if none is."""
    known: dict[str, list[float]] = {}
    for cell in cells:
        for name, value in costs_of(cell).items() if cell.status == "ok" else ():
            known.setdefault(name, []).extend([] if value is None else [value])
    return {name: median(values) if values else None for name, values in known.items()}


def saturation(cell: CellResult, cores: int) -> float | None:
    """Return the CPU time of the clients over that of the cores that they could use.

    They could use all *cores*, but under a GIL one core for each process.
    Returns None if the cell does not say, or has no cores.
    """
    spent_ns = cpu_ns(cell.clients)
    if spent_ns is None or cell.status != "ok" or not cell.wall_ns or not cores:
        return None
    with_gil = any(client.get("gil_enabled_end", True) for client in cell.clients)
    usable = min(cores, len(cell.clients)) if with_gil else cores
    return spent_ns / (cell.wall_ns * usable)
