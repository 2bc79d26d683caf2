"""How throughput grows with a swept number of workers, clients or sockets, and what two laws say of it. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import TypeVar

from core.result import CellResult, Run
from reports.findings.claims import SERVICES, WORKERS, cores_usable
from reports.rows.series import Series, about, labels, median_requests_per_s, series
from reports.rows.summary import requests_per_s
from reports.statistics.scaling import FEWEST_VALUES, AmdahlFit, UslFit, amdahl_fit, usl_fit
from reports.statistics.stats import Estimate
from reports.words.markdown import escaped, markdown_table
from reports.words.told import Told, texts

NAMES = (WORKERS, "NUM_CLIENTS", "NUM_MULTI_SOCKET")
ONE = {WORKERS: "worker", "NUM_CLIENTS": "client", "NUM_MULTI_SOCKET": "socket"}
LEAST_WINDOW_NS = 1_000_000_000
Law = TypeVar("Law", UslFit, AmdahlFit)


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """Throughput of one arm against parameter *name*, and the laws through it.

    throughput: n -> requests/s, the median over the blocks. blocks: n -> that of each block
    usl, amdahl: None where there is no such fit; why says why not. cells: of all values and blocks.
    """

    name: str
    label: str
    arm: str
    throughput: Mapping[int, float]
    blocks: Mapping[int, tuple[float, ...]]
    usl: UslFit | None = None
    amdahl: AmdahlFit | None = None
    why: str = ""
    cells: tuple[CellResult, ...] = ()

    @property
    def start(self) -> str:
        """How a sentence on it begins."""
        return about(self.name, self.label, self.arm)


def scalings(run: Run) -> list[Scaling]:
    """Every arm of every sweep with at least 6 values."""
    return [
        _scaling(one, label, name, arm)
        for name in NAMES
        for one, label in _sweeps(run, name)
        for arm in one.arms
        if len(_timed(one, name)) >= FEWEST_VALUES
    ]


def _sweeps(run: Run, name: str) -> list[tuple[Series, str]]:
    """Series with several values of *name*, each with its label."""
    every = [one for one in series(run, (name,)) if len(_timed(one, name)) > 1]
    return list(zip(every, labels(every), strict=True))


def _timed(one: Series, name: str) -> list[int]:
    """The values at which something was timed: 0 clients are no point of a law."""
    return [value for value in one.values(name) if value > 0]


def _scaling(one: Series, label: str, name: str, arm: str) -> Scaling:
    cells = {value: some for value, some in one.by_value(name, arm).items() if value > 0}
    throughput = {value: median_requests_per_s(some) for value, some in cells.items()}
    blocks = {value: tuple(map(requests_per_s, some)) for value, some in cells.items()}
    window_ns = min(median(cell.wall_ns for cell in some) for some in cells.values())
    usl, amdahl, why = fits(throughput, window_ns)
    return Scaling(
        name=name,
        label=label,
        arm=arm,
        throughput=throughput,
        blocks=blocks,
        usl=usl,
        amdahl=amdahl,
        why=why,
        cells=tuple(cell for some in cells.values() for cell in some),
    )


def fits(throughput: Mapping[int, float], window_ns: float) -> tuple[UslFit | None, AmdahlFit | None, str]:
    """Both laws through n -> requests/s, and why one is missing. window_ns: how long the shortest was timed."""
    if window_ns < LEAST_WINDOW_NS:
        return None, None, f"no fit, because some were timed for {window_ns / 1e9:.2f} s only; --duration 1 is enough"
    (usl, no_usl), (amdahl, no_amdahl) = _tried(usl_fit, throughput), _tried(amdahl_fit, throughput)
    whys = {"no fit of the Universal Scalability Law": no_usl, "no fit of Amdahl's law": no_amdahl}
    if no_usl == no_amdahl:
        whys = {"no fit of either law": no_usl}
    return usl, amdahl, "; ".join(f"{what}: {why}" for what, why in whys.items() if why)


def _tried(fit: Callable[[Mapping[int, float]], Law], throughput: Mapping[int, float]) -> tuple[Law | None, str]:
    try:
        return fit(throughput), ""
    except (ValueError, RuntimeError) as error:  # RuntimeError: the search did not end, scipy.optimize.curve_fit
        return None, str(error)


def sentences(run: Run) -> list[str]:
    """What the laws say of each arm; one line where a sweep has too few values."""
    return texts(told(run))


def told(run: Run) -> list[Told]:
    """The sentences, each with its cells."""
    lines = [Told(text=_sentence(one), cells=one.cells) for one in scalings(run)]
    return [*lines, *(line for name in NAMES for line in _too_few(run, name))]


def _too_few(run: Run, name: str) -> list[Told]:
    """A topology sweeps workers only along with services: that is none."""
    along = [one for one, _ in _sweeps(run, name)]
    most = max((len(_timed(one, name)) for one in along), default=FEWEST_VALUES)
    services = {cell.params.get(SERVICES) for cell in run.cells}
    if most >= FEWEST_VALUES or (name == WORKERS and len(services) > 1):
        return []
    text = f"{name} has {most} values: a scaling fit takes at least {FEWEST_VALUES}."
    return [Told(text=text, cells=tuple(cell for one in along for cell in one.cells))]


def _sentence(one: Scaling) -> str:
    parts = []
    if one.usl:
        rate = f"1 {ONE[one.name]} serves {span(one.usl.rate, ',.0f')} requests/s"
        law = f"contention sigma {span(one.usl.sigma)}, coherency kappa {span(one.usl.kappa)}"
        parts += [f"{rate}; {law}: {peak_text(one)}"]
    if one.amdahl:
        parts += [f"by Amdahl's law {_limit_text(one.amdahl)}"]
    return f"{one.start}{'; '.join([*parts, *filter(None, [one.why])])}."


def peak_text(one: Scaling) -> str:
    """Where throughput is highest by the Universal Scalability Law, if that can be claimed."""
    assert one.usl is not None
    peak, kappa, most = one.usl.peak, one.usl.kappa, max(one.throughput)
    if peak is None:
        held = "includes 0" if kappa.low <= 0 <= kappa.high else "lies below 0"
        return "throughput falls from 1 on" if kappa.low > 0 else f"no peak is claimed, the interval of kappa {held}"
    beyond = f", beyond the sweep, which ends at {most}" if peak.value > most else ""
    return f"most throughput at {span(peak, '.1f')}{beyond}"


def _limit_text(fit: AmdahlFit) -> str:
    share = f"{span(fit.serial)} of the work is serial"
    if fit.limit is None:
        return f"{share}, no limit is claimed"
    return f"{share}, so that no number serves more than {span(fit.limit, '.1f')} x as much as 1"


def span(of: Estimate, form: str = ".3g") -> str:
    """A value with its interval, each written like *form*: '0.05 (0.03 to 0.07)'."""
    finite = isfinite(of.low) and isfinite(of.high)
    return f"{of.value:{form}} ({of.low:{form}} to {of.high:{form}})" if finite else f"{of.value:{form}}"


def markdown(run: Run) -> str:
    """The sentences, and a line for each arm of each sweep with 6 values or more; empty without any sweep."""
    found, lines = scalings(run), sentences(run)
    if not lines:
        return ""
    listed = "\n".join(f"- {escaped(line)}" for line in [*lines, *(_notes(run) if found else [])])
    return "\n\n".join(["## Scaling", listed, *([_table(found)] if found else [])]) + "\n"


def _notes(run: Run) -> list[str]:
    cores = cores_usable(run)
    laws = "Universal Scalability Law and Amdahl's law, fitted to the median throughput at each value (95 % intervals)."
    limit = (
        f"Services and clients shared {cores} cores: what these cannot serve looks like contention." if cores else ""
    )
    return [f"{laws} {limit}".rstrip()]


_HEADS = ("sweep", "setting", "runtime", "values", "of 1 [requests/s]", "sigma", "kappa", "peak", "serial", "limit")


def _table(found: list[Scaling]) -> str:
    lines = [[one.name, one.label or "-", one.arm, str(len(one.throughput)), *_figures(one)] for one in found]
    return markdown_table(_HEADS, lines, {*_HEADS[3:]})


def _figures(one: Scaling) -> list[str]:
    usl, amdahl = one.usl, one.amdahl
    first = [span(usl.rate, ",.0f"), span(usl.sigma), span(usl.kappa)] if usl else ["-"] * 3
    peak = span(usl.peak, ".1f") if usl and usl.peak else "-"
    limit = span(amdahl.limit, ".1f") if amdahl and amdahl.limit else "-"
    return [*first, peak, span(amdahl.serial) if amdahl else "-", limit]
