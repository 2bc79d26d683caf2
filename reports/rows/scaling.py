"""How throughput grows with a swept number of workers, clients or sockets, and two laws fitted to it. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from core.messages import NOTHING, SEMICOLON, Message, listed, message
from core.result import CellResult, Run
from reports.rows.series import Series, labels, median_requests_per_s, series
from reports.rows.summary import requests_per_s
from reports.rows.topologies import SERVICES, WORKERS
from reports.statistics.scaling import FEWEST_VALUES, AmdahlFit, NoFit, UslFit, amdahl_fit, usl_fit

NAMES = (WORKERS, "NUM_CLIENTS", "NUM_MULTI_SOCKET")
LEAST_WINDOW_NS = 1_000_000_000
Law = TypeVar("Law", UslFit, AmdahlFit)


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """Throughput of one arm against parameter *name*, and the laws through it.

    throughput: n -> requests/s, the median over the blocks. cells: n -> those of each block
    usl, amdahl: None where there is no such fit; why says why not.
    """

    name: str
    label: Message
    arm: str
    throughput: Mapping[int, float]
    cells: Mapping[int, Sequence[CellResult]]
    usl: UslFit | None = None
    amdahl: AmdahlFit | None = None
    why: Message = NOTHING

    @property
    def blocks(self) -> dict[int, tuple[float, ...]]:
        """n -> requests/s of each block."""
        return {n: tuple(map(requests_per_s, cells)) for n, cells in self.cells.items()}

    @property
    def every_cell(self) -> list[CellResult]:
        """Of all values and blocks."""
        return [cell for cells in self.cells.values() for cell in cells]


@dataclass(frozen=True, kw_only=True)
class ShortSweep:
    """A parameter with several values, but too few of them for a fit in any setting."""

    name: str
    values: int
    cells: tuple[CellResult, ...]


def scalings(run: Run) -> list[Scaling]:
    """Every arm of every sweep with at least 6 values."""
    return [
        _scaling(swept, label, name, arm)
        for name in NAMES
        for swept, label in _sweeps(run, name)
        for arm in swept.arms
        if len(_timed(swept, name)) >= FEWEST_VALUES
    ]


def short_sweeps(run: Run) -> list[ShortSweep]:
    """Of each parameter whose sweeps are all too short. A topology sweeps workers only along with services: none."""
    services = {cell.params.get(SERVICES) for cell in run.cells}
    names = [name for name in NAMES if name != WORKERS or len(services) == 1]
    swept = {name: [each for each, _ in _sweeps(run, name)] for name in names}
    longest = {name: max((len(_timed(each, name)) for each in some), default=0) for name, some in swept.items()}
    return [
        ShortSweep(name=name, values=longest[name], cells=tuple(cell for each in some for cell in each.cells))
        for name, some in swept.items()
        if 0 < longest[name] < FEWEST_VALUES
    ]


def _sweeps(run: Run, name: str) -> list[tuple[Series, Message]]:
    """Series with several values of *name*, each with its label."""
    every = [each for each in series(run, (name,)) if len(_timed(each, name)) > 1]
    return list(zip(every, labels(every), strict=True))


def _timed(swept: Series, name: str) -> list[int]:
    """The values at which something was timed: 0 clients are no point of a law."""
    return [value for value in swept.values(name) if value > 0]


def _scaling(swept: Series, label: Message, name: str, arm: str) -> Scaling:
    cells = {value: measured for value, measured in swept.by_value(name, arm).items() if value > 0}
    throughput = {value: median_requests_per_s(measured) for value, measured in cells.items()}
    window_ns = min(median(cell.wall_ns for cell in measured) for measured in cells.values())
    usl, amdahl, why = fits(throughput, window_ns)
    return Scaling(name=name, label=label, arm=arm, throughput=throughput, cells=cells, usl=usl, amdahl=amdahl, why=why)


def fits(throughput: Mapping[int, float], window_ns: float) -> tuple[UslFit | None, AmdahlFit | None, Message]:
    """Both laws through n -> requests/s, and why one is missing. window_ns: how long the shortest was timed."""
    if window_ns < LEAST_WINDOW_NS:
        short = message(
            "not fitted, because some cells were timed for {seconds:.2f} s only; --duration 1 is enough",
            seconds=window_ns / 1e9,
        )
        return None, None, short
    (usl, no_usl), (amdahl, no_amdahl) = _tried(usl_fit, throughput), _tried(amdahl_fit, throughput)
    if no_usl and no_usl == no_amdahl:
        return usl, amdahl, message("neither law fits: {why}", why=no_usl)
    whys = [message("the Universal Scalability Law does not fit: {why}", why=no_usl)] if no_usl else []
    whys += [message("Amdahl's law does not fit: {why}", why=no_amdahl)] if no_amdahl else []
    return usl, amdahl, listed(whys, SEMICOLON)


def _tried(fit: Callable[[Mapping[int, float]], Law], throughput: Mapping[int, float]) -> tuple[Law | None, Message]:
    try:
        return fit(throughput), NOTHING
    except NoFit as error:
        return None, error.reason
