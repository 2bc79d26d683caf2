"""What a request costs on both sides, as the operating system and the handler counted it. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from core.messages import NOTHING, Message, message
from core.result import CellResult
from reports.document.model import Form
from reports.document.values import megabytes, tenths
from reports.facts.figures import cpu_ns

Reader = Callable[[CellResult], float | None]


@dataclass(frozen=True)
class Cost:
    """A figure of what requests cost: us or switches for each request, or bytes of all processes of a side.

    name, head: what the page names it by, and its column
    read:       its value in a cell; None if the cell does not say
    time:       what a sentence calls it, if it is a part of the time of a request
    """

    name: str
    head: Message
    read: Reader
    time: Message = NOTHING
    form: Form = tenths

    def of(self, cells: Sequence[CellResult]) -> float | None:
        """Return the median over the cells that say it."""
        known = [value for cell in cells if (value := self.read(cell)) is not None]
        return median(known) if known else None


def _counted(side: str, key: str) -> Reader:
    """Return the reader of what all processes of a side counted: ns as us and switches for each request, or bytes.

    side: the field of CellResult that has the processes; key: what is summed, which ends with its unit
    """

    def read(cell: CellResult) -> float | None:
        counts = [process.get(key) for process in getattr(cell, side)]
        divisor = {"ns": cell.answered * 1e3, "switches": cell.answered, "bytes": 1}[key.rpartition("_")[2]]
        return None if not counts or None in counts or not divisor else sum(counts) / divisor

    return read


def _calc_us(cell: CellResult) -> float | None:
    """Return the time of the calc loop for each request, as the handlers measured it."""
    return cell.calc_ns / cell.answered / 1e3 if cell.calc_ns and cell.answered else None


def _waiting_us(cell: CellResult) -> float | None:
    """Return the mean time from sending a request until its handler began."""
    return cell.waiting["mean_ns"] / 1e3 if cell.waiting else None


CALC = Cost("calc", message("calc"), _calc_us, message("the calc loop"))
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
    Cost("client_user", message("client user"), _counted("clients", "cpu_user_ns"), message("the clients' user time")),
    Cost("client_system", message("client kernel"), _counted("clients", "cpu_system_ns"),
         message("the clients' kernel time")),
)  # fmt: skip
SERVICE_PSS = Cost("service_pss", message("service PSS MB"), _counted("services", "pss_bytes"), form=megabytes)
MORE = (
    Cost("service_run_queue", message("core wait"), _counted("services", "run_queue_ns"),
         message("the service's wait for a core")),
    Cost("client_run_queue", message("client core wait"), _counted("clients", "run_queue_ns"),
         message("the clients' wait for a core")),
    Cost("service_voluntary", message("vol. sw."), _counted("services", "voluntary_switches")),
    Cost("service_involuntary", message("invol. sw."), _counted("services", "involuntary_switches")),
    Cost("service_rss", message("service peak MB"), _counted("services", "max_rss_bytes"), form=megabytes),
    SERVICE_PSS,
    Cost("client_rss", message("client peak MB"), _counted("clients", "max_rss_bytes"), form=megabytes),
)  # fmt: skip


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
