"""How throughput grows with a swept number of workers, clients or sockets, and two laws fitted to it. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TypeVar

from core.messages import NOTHING, SEMICOLON, Message, listed, message
from core.result import CellResult, Run
from core.saved import Machine
from reports.rows.comparisons import is_anytime
from reports.rows.series import Series, labels, median_requests_per_s, series
from reports.rows.summary import requests_per_s
from reports.rows.topologies import SERVICES, WORKERS
from reports.statistics.scaling import (
    FEWEST_VALUES,
    MISFIT,
    AmdahlFit,
    NoFit,
    UslFit,
    amdahl_fit,
    falls,
    lack_of_fit,
    usl_fit,
)
from reports.statistics.stats import Estimate
from reports.statistics.verdict import Verdict

NAMES = (WORKERS, "NUM_CLIENTS", "NUM_MULTI_SOCKET")
USES_CORES = (WORKERS, "NUM_CLIENTS")  # more of these than cores wait for each other
LEAST_WINDOW_NS = 1_000_000_000
Law = TypeVar("Law", UslFit, AmdahlFit)


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """Throughput of one arm against parameter *name*, and the laws through it.

    throughput: n -> requests/s, the median over the blocks. cells: n -> those of each block
    fitted: of throughput what laws are fitted to, up to the number of cores; empty where none is
    usl, amdahl: None where there is no such fit; why says why not.
    best: the n, and the verdict, at which throughput is most above that at the last one; None where no fall is shown
    """

    name: str
    label: Message
    arm: str
    throughput: Mapping[int, float]
    cells: Mapping[int, Sequence[CellResult]]
    fitted: Mapping[int, float] = field(default_factory=dict)
    usl: UslFit | None = None
    amdahl: AmdahlFit | None = None
    why: Message = NOTHING
    best: tuple[int, Verdict] | None = None

    @property
    def peak(self) -> Estimate | None:
        """Where throughput is highest by the law, if it is seen to fall after it."""
        peak = self.usl.peak if self.usl else None
        return peak if self.best and peak and peak.value <= max(self.fitted) else None

    @property
    def judged(self) -> dict[int, dict[int, float]]:
        """n -> block -> requests/s, of those that are fitted, or of all."""
        judged = self.fitted or self.throughput
        return {n: {cell.block: requests_per_s(cell) for cell in self.cells[n]} for n in judged}

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
    cores = Machine.from_json(run.machine).available_cores
    made = [
        _scaling(swept, label, name, arm, cores)
        for name in NAMES
        for swept, label in _sweeps(run, name)
        for arm in swept.arms
        if len(_timed(swept, name)) >= FEWEST_VALUES
    ]
    sweeps = {place: scaling.judged for place, scaling in enumerate(made)}
    best = falls(sweeps, anytime=is_anytime(run), seed=run.seed)
    return [replace(scaling, best=best.get(place)) for place, scaling in enumerate(made)]


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


def _scaling(swept: Series, label: Message, name: str, arm: str, cores: int) -> Scaling:
    cells = {value: measured for value, measured in swept.by_value(name, arm).items() if value > 0}
    throughput = {value: median_requests_per_s(measured) for value, measured in cells.items()}
    within = {n: rate for n, rate in throughput.items() if not cores or n <= cores or name not in USES_CORES}
    scaling = Scaling(name=name, label=label, arm=arm, throughput=throughput, fitted=within, cells=cells)
    window_ns = min(median(cell.wall_ns for cell in measured) for measured in cells.values())
    why = _why_not(scaling, window_ns, cores)
    if why:
        return replace(scaling, fitted={}, why=why)
    (usl, no_usl), (amdahl, no_amdahl) = _tried(usl_fit, 3, scaling), _tried(amdahl_fit, 2, scaling)
    whys = [message("the Universal Scalability Law does not fit: {why}", why=no_usl)] if no_usl else []
    whys += [message("Amdahl's law does not fit: {why}", why=no_amdahl)] if no_amdahl else []
    if no_usl and no_usl == no_amdahl:
        whys = [message("neither law fits: {why}", why=no_usl)]
    return replace(scaling, usl=usl, amdahl=amdahl, why=listed(whys, SEMICOLON))


def _why_not(scaling: Scaling, window_ns: float, cores: int) -> Message:
    """Why no law is fitted; window_ns: how long the shortest was timed."""
    if window_ns < LEAST_WINDOW_NS:
        return message(
            "not fitted, because some cells were timed for {seconds:.2f} s only; --duration 1 is enough",
            seconds=window_ns / 1e9,
        )
    if len(scaling.fitted) < FEWEST_VALUES:
        return message(
            "no law is fitted, because beyond the {cores} cores the bend is the machine's, and up to there are "
            "{count} values; a fit takes {least}",
            cores=cores, count=len(scaling.fitted), least=FEWEST_VALUES,
        )  # fmt: skip
    return NOTHING


def _tried(fit: Callable[[Mapping[int, float]], Law], parameters: int, scaling: Scaling) -> tuple[Law | None, Message]:
    """The law through the medians, and why there is none."""
    try:
        p = lack_of_fit(scaling.judged, fit, parameters)
        law = fit(scaling.fitted)
    except NoFit as error:
        return None, error.reason
    if p <= MISFIT:
        return None, message("its curve misses the values by more than they scatter (p is {p:.2g})", p=p)
    return law, NOTHING
