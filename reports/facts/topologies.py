"""One process of many threads beside many processes of few: which are compared, and by how much. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from core.messages import Message
from core.result import CellResult, Run
from core.runtime import RuntimeName
from core.saved import Machine
from reports.facts.cells import Series, median_requests_per_s, memory_bytes, number, request_ns, series
from reports.facts.figures import cpu_ns
from reports.facts.ran import Shape, differ, loop_share, ran, shape_text
from reports.facts.settings import labels
from reports.statistics.significance import ALPHA, holm, sign_flip_p
from reports.statistics.stats import Estimate, log_ratios, paired_effect

SERVICES, WORKERS, LOAD = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE", "CALC_TARGET"
MANY_THREADS = 25
NO_LOAD = -1


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a load was served: so many processes of so many threads each, on one arm. cells: one per block.

    asked: what the service was told, if that was something else
    """

    processes: int
    threads: int
    arm: str
    cells: tuple[CellResult, ...] = ()
    asked: Shape | None = None

    @property
    def shape(self) -> str:
        """2 x 1: processes x threads."""
        return shape_text((self.processes, self.threads))

    @property
    def ran(self) -> str:
        """The shape as it was counted; empty if it was not."""
        counted = ran(self.cells)
        return shape_text(counted) if counted else ""

    @property
    def loop_share(self) -> tuple[int, float]:
        """Event loops of a process, and the share of its connections that one of them had."""
        return loop_share(self.cells)

    @property
    def p99_ns(self) -> float | None:
        """The median over the blocks."""
        return _median(cell.latency.get("p99_ns") for cell in self.cells)

    @property
    def cpu_ns(self) -> float | None:
        """CPU time of the service per request, the median over the blocks."""
        used = ((cpu_ns(cell.services), cell.answered) for cell in self.cells)
        return _median(spent / answered for spent, answered in used if spent is not None and answered)

    @property
    def requests_per_s(self) -> float:
        """The median over the blocks."""
        return median_requests_per_s(self.cells)

    @property
    def memory_bytes(self) -> float | None:
        """Memory of all services, the median over the blocks; None where no cell has it."""
        return _median(memory_bytes(cell.services) for cell in self.cells)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A series in which both the number of processes and that of their threads vary, with its label."""

    label: Message
    series: Series

    @property
    def loads(self) -> list[int]:
        """The loads that were measured, in order; NO_LOAD alone where the system reads none, as a user's service."""
        return self.series.values(LOAD) if LOAD in self.series.cells[0].params else [NO_LOAD]

    def places(self, load: int) -> list[Place]:
        """Everything measured at *load*, in the order of arms, most processes first."""
        cells: dict[tuple[str, int, int], list[CellResult]] = {}
        for cell in self.series.cells:
            if cell.params.get(LOAD, NO_LOAD) == load:
                cells.setdefault((cell.arm, number(cell, SERVICES), number(cell, WORKERS)), []).append(cell)
        order = sorted(cells, key=lambda key: (self.series.arms.index(key[0]), -key[1], key[2]))
        return [_place(key[0], key[1:], tuple(cells[key])) for key in order]


def _place(name: str, asked: Shape, cells: tuple[CellResult, ...]) -> Place:
    """The place by what ran, not by what was asked for."""
    counted = ran(cells)
    if counted is None or not differ(asked, counted):
        return Place(arm=name, processes=asked[0], threads=asked[1], cells=cells)
    return Place(arm=name, processes=counted[0], threads=counted[1], cells=cells, asked=asked)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """At one load: *threaded*, one process without the lock, over *one* of as many threads and *many* with it.

    over_one, over_many: log-ratios of throughput, above 0 where *threaded* serves more; memory: log-ratio of
    memory, of *threaded* to *many*. None where a cell is missing. p: of over_many, adjusted for all claims of the run
    """

    label: Message
    load: int
    clients: int
    threaded: Place
    one: Place
    many: Place
    over_one: Estimate | None
    over_many: Estimate | None
    memory: Estimate | None
    p: float = 1.0

    @property
    def cells(self) -> tuple[CellResult, ...]:
        """Those of all three places."""
        return (*self.threaded.cells, *self.one.cells, *self.many.cells)

    @property
    def leader(self) -> Place | None:
        """Of *threaded* and *many* the one that serves more, by interval and p as in a verdict; None if neither."""
        if self.over_many is None or self.p > ALPHA or self.over_many.low <= 0 <= self.over_many.high:
            return None
        return self.threaded if self.over_many.low > 0 else self.many

    @property
    def is_same_version(self) -> bool:
        """Whether both sides are of one version of Python, so that they differ in the lock alone."""
        return RuntimeName.parse(self.threaded.arm).version == RuntimeName.parse(self.one.arm).version


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Claims at several loads, rising, that have both sides and differ in the load alone."""

    claims: tuple[Claim, ...]

    @property
    def loads(self) -> list[int]:
        """All of the sweep."""
        return [claim.load for claim in self.claims]

    @property
    def ahead(self) -> list[int]:
        """The loads at which the one process serves more."""
        return [claim.load for claim in self.claims if claim.leader == claim.threaded]

    @property
    def is_open(self) -> bool:
        """Whether there are too few blocks for any interval."""
        return all(claim.over_many.is_range for claim in self.claims if claim.over_many)

    @property
    def is_always_behind(self) -> bool:
        """Whether the many processes serve more at every load."""
        return all(claim.leader == claim.many for claim in self.claims)

    @property
    def best(self) -> tuple[float, int]:
        """The highest log-ratio, and at which load."""
        return max((claim.over_many.value, claim.load) for claim in self.claims if claim.over_many)


def topologies(run: Run) -> list[Topology]:
    """All that the run has, in the plan's order."""
    loaded = series(run, (SERVICES, WORKERS, LOAD))
    without_load = [each for each in series(run, (SERVICES, WORKERS)) if LOAD not in each.params]  # a user's service
    kept = [each for each in (*loaded, *without_load) if min(len(each.values(SERVICES)), len(each.values(WORKERS))) > 1]
    return [Topology(label=label, series=each) for label, each in zip(labels(kept), kept, strict=True)]


def load_text(load: int) -> str:
    """CALC_TARGET 1000; empty for NO_LOAD."""
    return "" if load == NO_LOAD else f"{LOAD} {load}"


def claims(run: Run) -> list[Claim]:
    """A claim per load, for each free-threaded runtime that has a default build beside it; all are one family."""
    made = [
        _claim(topology, load, pair, _chosen_shape(run, topology, pair))
        for topology in topologies(run)
        for pair in _pairs(run, topology.series)
        for load in topology.loads
    ]
    known = [claim for claim in made if claim.over_many]
    adjusted = dict(zip(map(id, known), holm([_p(claim) for claim in known]), strict=True))
    return [replace(claim, p=adjusted.get(id(claim), 1.0)) for claim in made]


def _p(claim: Claim) -> float:
    ratios = log_ratios(request_ns(claim.many.cells), request_ns(claim.threaded.cells))
    return sign_flip_p([*ratios.values()])


def crossings(claims_: Sequence[Claim]) -> list[Crossing]:
    """Claims by rising load, where there are several."""
    groups: dict[tuple[Message, str], list[Claim]] = {}
    for claim in claims_:
        if claim.over_many and claim.load != NO_LOAD:
            groups.setdefault((claim.label, claim.threaded.arm), []).append(claim)
    return [Crossing(claims=tuple(group)) for group in groups.values() if len(group) > 1]


def _pairs(run: Run, swept: Series) -> list[tuple[str, str]]:
    """Each free-threaded runtime with the default build to compare it with: of its version, or else the last."""
    known = {arm: RuntimeName.parse(arm) for arm in swept.arms if arm in run.runtimes}
    default = [arm for arm, name in known.items() if not name.free_threaded]
    free = [arm for arm, name in known.items() if not name.gil_enabled]
    return [(arm, known[arm].version if known[arm].version in default else default[-1]) for arm in free if default]


def _chosen_shape(run: Run, topology: Topology, pair: tuple[str, str]) -> tuple[int, tuple[int, int]]:
    """(threads of the one process, shape of the many): as many as cores, or else what is there."""
    cores = Machine.from_json(run.machine).available_cores
    places = [place for load in topology.loads for place in topology.places(load)]
    shapes = {(place.arm, place.processes, place.threads) for place in places}
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


def _claim(topology: Topology, load: int, pair: tuple[str, str], shape: tuple[int, tuple[int, int]]) -> Claim:
    measured = {(place.arm, place.processes, place.threads): place for place in topology.places(load)}

    def place(arm: str, processes: int, threads: int) -> Place:
        return measured.get((arm, processes, threads), Place(processes=processes, threads=threads, arm=arm))

    threaded, single, many = place(pair[0], 1, shape[0]), place(pair[1], 1, shape[0]), place(pair[1], *shape[1])
    clients = topology.series.params["NUM_CLIENTS"]
    assert isinstance(clients, int)
    return Claim(
        label=topology.label,
        load=load,
        clients=clients,
        threaded=threaded,
        one=single,
        many=many,
        over_one=paired_effect(request_ns(single.cells), request_ns(threaded.cells)),
        over_many=paired_effect(request_ns(many.cells), request_ns(threaded.cells)),
        memory=paired_effect(_taken_bytes(threaded), _taken_bytes(many)),
    )


def _taken_bytes(place: Place) -> dict[int, int]:
    """Memory of all services, by block."""
    sizes = {cell.block: memory_bytes(cell.services) for cell in place.cells}
    return {block: size for block, size in sizes.items() if size}
