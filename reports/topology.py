"""Processes against threads: what one process of many threads serves beside many processes of one. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isinf
from statistics import median

from core.result import CellResult, Run
from core.runtime import RuntimeName
from reports.markdown import escaped, markdown_table
from reports.series import (
    Series,
    about,
    labels,
    median_requests_per_s,
    memory_bytes,
    number,
    series,
)
from reports.stats import FEWEST_FOR_INTERVAL, Estimate, effect, log_ratios

SERVICES, WORKERS, LOAD = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE", "CALC_TARGET"
MANY_THREADS = 25
MIB = 2**20


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a load was served: so many processes of so many threads each, on one arm. cells: one per block."""

    processes: int
    threads: int
    arm: str
    cells: tuple[CellResult, ...] = ()

    @property
    def shape(self) -> str:
        """2 x 1: processes x threads."""
        return f"{self.processes} x {self.threads}"

    def __str__(self) -> str:
        many = f"{self.processes} process{'es' * (self.processes > 1)}"
        return f"{many}{f' of {self.threads} threads' * (self.threads > 1)} on {self.arm}"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """At one load: *threaded*, one process without the lock, over *one* of as many threads and *many* with it.

    over_one, over_many: log-ratios of throughput, above 0 where *threaded* serves more; memory: log-ratio of
    memory, of *threaded* to *many*. None where a cell is missing.
    """

    label: str
    load: int
    clients: int
    threaded: Place
    one: Place
    many: Place
    over_one: Estimate | None
    over_many: Estimate | None
    memory: Estimate | None


def sentences(run: Run) -> list[str]:
    """What people look for, per load; where the one process overtakes the many; what is missing for that."""
    found = claims(run)
    if not found:
        return _why_none(run)
    lines = [_sentence(claim) for claim in found]
    lines += [crossing(some) for some in _along_load(found)]
    return [*lines, *_lower_bounds(run, found)]


def markdown(run: Run) -> str:
    """The sentences, every measured topology, and the crossover over CALC_TARGET; empty without topologies."""
    every = topologies(run)
    if not every:
        return ""
    lines = "\n".join(f"- {escaped(line)}" for line in [*sentences(run), *_NOTES])
    parts = ["## Topology: processes x threads", lines, *map(_table, every)]
    crossings = [_crossover_table(some) for some in _along_load(claims(run))]
    return "\n\n".join([*parts, *(["### Crossover over CALC_TARGET", *crossings] if crossings else [])]) + "\n"


_NOTES = (
    "Throughput is answered requests over wall time, median over the blocks; ratios are paired by block. A single "
    "process that is compared with another has as many threads as that.",
    "Memory is that of all services together at the end of a cell: proportional set size, or peak resident set where "
    "the system does not tell that.",
)


def topologies(run: Run) -> list[tuple[str, Series]]:
    """Series in which both the number of processes and that of their threads vary, each with its label."""
    every = series(run, (SERVICES, WORKERS, LOAD))
    kept = [one for one in every if len(one.values(SERVICES)) > 1 and len(one.values(WORKERS)) > 1]
    return list(zip(labels(kept), kept, strict=True))


def places(one: Series, load: int) -> list[Place]:
    """Every topology measured at *load*, in the order of arms, most processes first."""
    found: dict[tuple[str, int, int], list[CellResult]] = {}
    for cell in one.cells:
        if number(cell, LOAD) == load:
            found.setdefault((cell.arm, number(cell, SERVICES), number(cell, WORKERS)), []).append(cell)
    order = sorted(found, key=lambda key: (one.arms.index(key[0]), -key[1], key[2]))
    return [Place(processes=key[1], threads=key[2], arm=key[0], cells=tuple(found[key])) for key in order]


def claims(run: Run) -> list[Claim]:
    """A claim per load, for each free-threaded runtime that has a default build beside it."""
    return [
        _claim(label, one, load, pair, _chosen_shape(run, one, pair))
        for label, one in topologies(run)
        for pair in _pairs(run, one)
        for load in one.values(LOAD)
    ]


def _pairs(run: Run, one: Series) -> list[tuple[str, str]]:
    """Each free-threaded runtime with the default build to compare it with: of its version, or else the last."""
    known = {arm: RuntimeName.parse(arm) for arm in one.arms if arm in run.runtimes}
    default = [arm for arm, name in known.items() if not name.free_threaded]
    free = [arm for arm, name in known.items() if not name.gil_enabled]
    return [(arm, known[arm].version if known[arm].version in default else default[-1]) for arm in free if default]


def _why_none(run: Run) -> list[str]:
    if not topologies(run):
        return []
    arms = ", ".join(dict.fromkeys(arm for _, one in topologies(run) for arm in one.arms))
    return [
        "Processes and threads are not compared: it takes a free-threaded runtime and one of the default build, such"
        f" as 3.14t and 3.14; measured are {arms}."
    ]


def _chosen_shape(run: Run, one: Series, pair: tuple[str, str]) -> tuple[int, int]:
    """(threads of the one process, number of the many): as many as cores, or else what is there."""
    cores = run.machine.get("cores_usable") or run.machine.get("cores") or 0
    shapes = {(cell.arm, number(cell, SERVICES), number(cell, WORKERS)) for cell in one.cells}
    threads = [each for arm, count, each in shapes if (arm, count) == (pair[0], 1) and each > 1]
    many = [count for arm, count, each in shapes if (arm, each) == (pair[1], 1) and count > 1]
    return _first_of(threads, cores, MANY_THREADS), _first_of(many, cores)


def _first_of(there: Sequence[int], *wanted: int) -> int:
    """The first of *wanted* that is there, else the largest; where nothing is, what was wanted, 2 at least."""
    return next((value for value in wanted if value in there), max(there, default=max(2, wanted[0])))


def _claim(label: str, one: Series, load: int, pair: tuple[str, str], shape: tuple[int, int]) -> Claim:
    measured = {(place.arm, place.processes, place.threads): place for place in places(one, load)}

    def place(arm: str, processes: int, threads: int) -> Place:
        return measured.get((arm, processes, threads), Place(processes=processes, threads=threads, arm=arm))

    threaded, single, many = place(pair[0], 1, shape[0]), place(pair[1], 1, shape[0]), place(pair[1], shape[1], 1)
    clients = one.params["NUM_CLIENTS"]
    assert isinstance(clients, int)
    return Claim(
        label=label,
        load=load,
        clients=clients,
        threaded=threaded,
        one=single,
        many=many,
        over_one=_log_ratio(_spent(single), _spent(threaded)),
        over_many=_log_ratio(_spent(many), _spent(threaded)),
        memory=_log_ratio(_taken(threaded), _taken(many)),
    )


def _spent(place: Place) -> dict[int, int]:
    """Wall time of a million requests, ns, by block: integers, yet fine enough for requests of some us."""
    return {cell.block: cell.wall_ns * 1_000_000 // cell.answered for cell in place.cells if cell.answered}


def _taken(place: Place) -> dict[int, int]:
    """Memory of all services, by block."""
    sizes = {cell.block: memory_bytes(cell.services) for cell in place.cells}
    return {block: size for block, size in sizes.items() if size}


def _log_ratio(denominator: Mapping[int, int], numerator: Mapping[int, int]) -> Estimate | None:
    per_block = [*log_ratios(denominator, numerator).values()]
    return effect(per_block) if per_block else None


def _sentence(claim: Claim) -> str:
    load = f"{LOAD} {claim.load}"
    if not claim.threaded.cells:
        return f"{about(claim.label, load)}{claim.threaded} was not measured, so there is nothing to compare."
    parts, memory = [], ""
    if claim.over_one:
        parts += [f"{_times(claim.over_one)} what 1 process on {claim.one.arm} does"]
    if claim.over_many:
        parts += [f"{_times(claim.over_many)} what {claim.many} do"]
        memory = f", with {_times(claim.memory)} their memory" if claim.memory else ""
    serves = f" serves {' and '.join(parts)}{memory}" if parts else ""
    return f"{about(claim.label, load)}{claim.threaded}{serves}{_other_version(claim)}{_lacking(claim)}."


def _other_version(claim: Claim) -> str:
    same = RuntimeName.parse(claim.threaded.arm).version == RuntimeName.parse(claim.one.arm).version
    return "" if same else " (another version: this is version and lock together)"


def _lacking(claim: Claim) -> str:
    absent = [str(place) for place, ratio in ((claim.one, claim.over_one), (claim.many, claim.over_many)) if not ratio]
    return f"; not measured in the same blocks: {', '.join(absent)}" if absent else ""


def _times(log_ratio: Estimate) -> str:
    span = "" if isinf(log_ratio.half_width) else f" ({exp(log_ratio.low):.2f} to {exp(log_ratio.high):.2f})"
    return f"{exp(log_ratio.value):.2f} x{span}"


def _along_load(found: Sequence[Claim]) -> list[list[Claim]]:
    """Claims that differ in the load alone, where there are several that have both sides."""
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in found:
        if claim.over_many:
            groups.setdefault((claim.label, claim.threaded.arm), []).append(claim)
    return [some for some in groups.values() if len(some) > 1]


def crossing(some: Sequence[Claim]) -> str:
    """From which load on the one process serves more than the many; some: claims by rising load, with both sides."""
    first = some[0]
    head = f"{about(first.label)}{first.threaded} overtakes {first.many}"
    if all(isinf(claim.over_many.half_width) for claim in some if claim.over_many):
        return f"{head}: that cannot be told from fewer than {FEWEST_FOR_INTERVAL} blocks."
    ahead = [claim.load for claim in some if _leader(claim) == claim.threaded.shape]
    swept = [claim.load for claim in some]
    if not ahead:
        best = max(some, key=lambda claim: claim.over_many.value if claim.over_many else 0)
        seen = _times(best.over_many) if best.over_many else ""
        return f"{head} never within the sweep; at best it serves {seen} as much, at {LOAD} {best.load}."
    if len(ahead) == len(swept):
        return f"{head} at every {LOAD} of the sweep, {swept[0]} to {swept[-1]}."
    if ahead == swept[-len(ahead) :]:
        return f"{head} between {LOAD} {swept[-len(ahead) - 1]} and {ahead[0]}."
    return f"{head} at {LOAD} {', '.join(map(str, ahead))} of {', '.join(map(str, swept))}."


def _leader(claim: Claim) -> str:
    """The shape that serves more, if the interval of the ratio leaves out 1; else neither."""
    seen = claim.over_many
    if seen is None or seen.low <= 0 <= seen.high:
        return "neither"
    return claim.threaded.shape if seen.low > 0 else claim.many.shape


def _lower_bounds(run: Run, found: Sequence[Claim]) -> list[str]:
    """A process has no more requests under way than there are clients."""
    cores = run.machine.get("cores_usable") or run.machine.get("cores") or 0
    few = next((claim for claim in found if claim.clients < min(claim.threaded.threads, cores)), None)
    if few is None:
        return []
    return [
        f"{few.clients} clients keep no more than {few.clients} requests under way at one process, fewer than it could"
        f" serve at once: the figures of {few.threaded.shape} are a lower bound. Raise NUM_CLIENTS."
    ]


def _table(labelled: tuple[str, Series]) -> str:
    label, one = labelled
    heads = [LOAD, "processes x threads", "runtime", "requests/s", "memory [MiB]", "blocks"]
    lines = [
        [str(load), place.shape, place.arm, *_figures(place.cells), str(len(place.cells))]
        for load in one.values(LOAD)
        for place in places(one, load)
    ]
    table = markdown_table(heads, lines, {LOAD, *heads[3:]})
    return f"{escaped(about(label).rstrip())}\n\n{table}" if label else table


def _figures(cells: Sequence[CellResult]) -> list[str]:
    sizes = [size for cell in cells if (size := memory_bytes(cell.services)) is not None]
    return [f"{median_requests_per_s(cells):,.0f}", f"{median(sizes) / MIB:,.1f}" if sizes else "-"]


def _crossover_table(some: Sequence[Claim]) -> str:
    first = some[0]
    heads = [LOAD, f"{first.threaded} [requests/s]", f"{first.many} [requests/s]", "ratio (95 %)", "serves more"]
    lines = [
        [
            str(claim.load),
            f"{median_requests_per_s(claim.threaded.cells):,.0f}",
            f"{median_requests_per_s(claim.many.cells):,.0f}",
            _times(claim.over_many) if claim.over_many else "-",
            _leader(claim),
        ]
        for claim in some
    ]
    table = markdown_table(heads, lines, {*heads[:4]})
    return f"{escaped(about(first.label).rstrip())}\n\n{table}" if first.label else table
