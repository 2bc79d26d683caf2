"""Costs of a request for services and clients, as the operating system and the handlers counted them.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import NOTHING, Message, message
from core.result import CellResult
from reports.document.model import Form
from reports.document.values import megabytes, tenths
from reports.facts.figures import Reader, cpu_ns, median_of


@dataclass(frozen=True)
class Cost:
    """A cost: microseconds or context switches per request, or the memory of all service or all client processes.

    name: the name in the page's data-figure attributes
    head: the head of its column
    read: returns the value of a cell; None if unknown
    time: its name in sentences, if it is a part of the time of a request
    form: formats the value as text
    """

    name: str
    head: Message
    read: Reader
    time: Message = NOTHING
    form: Form = tenths

    def of(self, cells: Sequence[CellResult]) -> float | None:
        """Return the cost's median over the measurements (cells) where it is known; None if it is unknown in all."""
        return median_of(self.read, cells)


def _counted(side: str, key: str) -> Reader:
    """Return a function that sums the counter *key* over all services, or over all clients, of a cell.

    side: the field of CellResult with the processes
    key:  the counter; its suffix is its unit: ns become us per request, switches are per request, bytes stay
    """

    def read(cell: CellResult) -> float | None:
        counts = [process.get(key) for process in getattr(cell, side)]
        divisor = {"ns": cell.answered * 1e3, "switches": cell.answered, "bytes": 1}[key.rpartition("_")[2]]
        return None if not counts or None in counts or not divisor else sum(counts) / divisor

    return read


def _calc_us(cell: CellResult) -> float | None:
    """Return the time per request in the handler's calculation loop, in us, as the handlers measured it."""
    return cell.calc_ns / cell.answered / 1e3 if cell.calc_ns and cell.answered else None


def _waiting_us(cell: CellResult) -> float | None:
    """Return the mean time from sending a request to the start of its handler, in us."""
    return cell.waiting["mean_ns"] / 1e3 if cell.waiting else None


CALC = Cost("calc", message("calculation"), _calc_us, message("the handlers' calculation loop"))
USER = Cost("service_user", message("user"), _counted("services", "cpu_user_ns"), message("the service's user time"))
KERNEL = Cost(
    "service_system", message("kernel"), _counted("services", "cpu_system_ns"), message("the service's kernel time")
)
WAITING = Cost("waiting", message("waiting"), _waiting_us, message("waiting for a worker"))
TIMES = (
    CALC,
    USER,
    KERNEL,
    WAITING,
    Cost("client_user", message("client user time"), _counted("clients", "cpu_user_ns"),
         message("the clients' user time")),
    Cost("client_system", message("client kernel time"), _counted("clients", "cpu_system_ns"),
         message("the clients' kernel time")),
)  # fmt: skip
SERVICE_PSS = Cost("service_pss", message("service PSS MB"), _counted("services", "pss_bytes"), form=megabytes)
MORE = (
    Cost("service_run_queue", message("core wait"), _counted("services", "run_queue_ns"),
         message("the service's wait for a core")),
    Cost("client_run_queue", message("client wait for a core"), _counted("clients", "run_queue_ns"),
         message("the clients' wait for a core")),
    Cost("service_voluntary", message("voluntary switches"), _counted("services", "voluntary_switches")),
    Cost("service_involuntary", message("involuntary switches"), _counted("services", "involuntary_switches")),
    Cost("service_rss", message("service peak MB"), _counted("services", "max_rss_bytes"), form=megabytes),
    SERVICE_PSS,
    Cost("client_rss", message("client peak MB"), _counted("clients", "max_rss_bytes"), form=megabytes),
)  # fmt: skip


def saturation(cell: CellResult, cores: int) -> float | None:
    """Return the share of the cores available to clients that the clients used in a measurement; None if unknown.

    Clients without a GIL can use all *cores*. Each client process with a GIL can use one core.
    """
    spent_ns = cpu_ns(cell.clients)
    if spent_ns is None or cell.status != "ok" or not cell.wall_ns or not cores:
        return None
    with_gil = any(client.get("gil_enabled_end", True) for client in cell.clients)
    usable = min(cores, len(cell.clients)) if with_gil else cores
    return spent_ns / (cell.wall_ns * usable)
