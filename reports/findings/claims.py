"""One process of many threads beside many processes of few: which are compared, and by how much. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.result import CellResult, Run
from core.runtime import RuntimeName
from reports.rows.series import Series, labels, memory_bytes, number, series
from reports.statistics.stats import Estimate, effect, log_ratios

SERVICES, WORKERS, LOAD = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE", "CALC_TARGET"
MANY_THREADS = 25
NO_LOAD = -1


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


def topologies(run: Run) -> list[tuple[str, Series]]:
    """Series in which both the number of processes and that of their threads vary, each with its label."""
    every = [
        *series(run, (SERVICES, WORKERS, LOAD)),
        *(one for one in series(run, (SERVICES, WORKERS)) if LOAD not in one.params),  # a user's service has no load
    ]
    kept = [one for one in every if len(one.values(SERVICES)) > 1 and len(one.values(WORKERS)) > 1]
    return list(zip(labels(kept), kept, strict=True))


def loads(one: Series) -> list[int]:
    """The loads that were measured, in order; NO_LOAD alone where the system reads none, as a user's service."""
    return one.values(LOAD) if LOAD in one.cells[0].params else [NO_LOAD]


def load_text(load: int) -> str:
    """CALC_TARGET 1000; empty for NO_LOAD."""
    return "" if load == NO_LOAD else f"{LOAD} {load}"


def places(one: Series, load: int) -> list[Place]:
    """Every topology measured at *load*, in the order of arms, most processes first."""
    found: dict[tuple[str, int, int], list[CellResult]] = {}
    for cell in one.cells:
        if cell.params.get(LOAD, NO_LOAD) == load:
            found.setdefault((cell.arm, number(cell, SERVICES), number(cell, WORKERS)), []).append(cell)
    order = sorted(found, key=lambda key: (one.arms.index(key[0]), -key[1], key[2]))
    return [Place(processes=key[1], threads=key[2], arm=key[0], cells=tuple(found[key])) for key in order]


def claims(run: Run) -> list[Claim]:
    """A claim per load, for each free-threaded runtime that has a default build beside it."""
    return [
        _claim(label, one, load, pair, _chosen_shape(run, one, pair))
        for label, one in topologies(run)
        for pair in _pairs(run, one)
        for load in loads(one)
    ]


def _pairs(run: Run, one: Series) -> list[tuple[str, str]]:
    """Each free-threaded runtime with the default build to compare it with: of its version, or else the last."""
    known = {arm: RuntimeName.parse(arm) for arm in one.arms if arm in run.runtimes}
    default = [arm for arm, name in known.items() if not name.free_threaded]
    free = [arm for arm, name in known.items() if not name.gil_enabled]
    return [(arm, known[arm].version if known[arm].version in default else default[-1]) for arm in free if default]


def _chosen_shape(run: Run, one: Series, pair: tuple[str, str]) -> tuple[int, tuple[int, int]]:
    """(threads of the one process, shape of the many): as many as cores, or else what is there."""
    cores = cores_usable(run)
    shapes = {(cell.arm, number(cell, SERVICES), number(cell, WORKERS)) for cell in one.cells}
    threads = [each for arm, count, each in shapes if (arm, count) == (pair[0], 1) and each > 1]
    many = [(count, each) for arm, count, each in shapes if arm == pair[1] and count > 1]
    return _first_of(threads, cores, MANY_THREADS), _most_processes(many, cores)


def _first_of(there: Sequence[int], *wanted: int) -> int:
    """The first of *wanted* that is there, else the largest; where nothing is, what was wanted, 2 at least."""
    return next((value for value in wanted if value in there), max(there, default=max(2, wanted[0])))


def _most_processes(there: Sequence[tuple[int, int]], cores: int) -> tuple[int, int]:
    """A process of one thread for each core; where that was not measured the most processes, of the fewest threads."""
    if (cores, 1) in there:
        return cores, 1
    return max(there, key=lambda shape: (shape[0], -shape[1]), default=(max(2, cores), 1))


def _claim(label: str, one: Series, load: int, pair: tuple[str, str], shape: tuple[int, tuple[int, int]]) -> Claim:
    measured = {(place.arm, place.processes, place.threads): place for place in places(one, load)}

    def place(arm: str, processes: int, threads: int) -> Place:
        return measured.get((arm, processes, threads), Place(processes=processes, threads=threads, arm=arm))

    threaded, single, many = place(pair[0], 1, shape[0]), place(pair[1], 1, shape[0]), place(pair[1], *shape[1])
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


def cores_usable(run: Run) -> int:
    """Cores that the run might use, 0 where that is not known."""
    return run.machine.get("cores_usable") or run.machine.get("cores") or 0
