"""Comparisons between one process with many threads and many processes with few threads each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter
from statistics import median_low

from core.messages import Message, message
from core.result import CellResult, Run
from reports.facts.cells import Cells, Series, grouped, memory_bytes, number, of_cells, runtimes
from reports.facts.gates import checked_ratio
from reports.facts.settings import labels
from reports.statistics.stats import Estimate, paired_ratio

Shape = tuple[int, int]  # number of processes, and threads per process


def shape_text(shape: Shape) -> str:
    """Return processes and threads as text: '2 x 4' for 2 processes of 4 threads each."""
    return f"{shape[0]} x {shape[1]}"


def measured_shape(cells: Sequence[CellResult]) -> Shape | None:
    """Return the median numbers of processes and threads that the services of *cells* had.

    None if they are unknown, or if they differ between *cells*, as with a service that starts a thread per connection.
    """
    counted = [[one["threads"] for each in cell.services for one in each.get("workers", ())] for cell in cells]
    processes, threads = [], []
    for of_cell in filter(None, counted):
        processes.append(len(of_cell))
        threads.append(median_low(of_cell))
    if not threads or differ((min(processes), min(threads)), (max(processes), max(threads))):
        return None
    return median_low(processes), median_low(threads)


def differ(one: Shape, other: Shape) -> bool:
    """Return whether two services differ in processes, or one has over twice the other's threads per process."""
    return one[0] != other[0] or max(one[1], other[1]) > 2 * min(one[1], other[1])


def shape_confounds(arms: tuple[str, str], cells: tuple[Sequence[CellResult], Sequence[CellResult]]) -> list[Message]:
    """Return a list with one confound if the arms had different numbers of processes or threads, else [].

    One block does not show whether the numbers vary within an arm.
    """
    one, other = map(measured_shape, cells)
    if min(map(len, cells)) < FEWEST_BLOCKS or one is None or other is None or not differ(one, other):
        return []
    return [
        message(
            "{denominator} ran with {one} and {numerator} with {other} (processes x threads)",
            denominator=arms[0], numerator=arms[1], one=shape_text(one), other=shape_text(other),
        )
    ]  # fmt: skip


SERVICES, WORKERS, LOAD = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE", "CALC_TARGET"
MANY_THREADS = 25
FEWEST_BLOCKS = 2
NO_LOAD = -1


@dataclass(frozen=True)
class MeasuredShape:
    """A number of processes with a number of threads each, measured under one arm.

    cells: one cell per block
    asked: the requested shape, if the service ran in a different shape
    """

    arm: str
    processes: int
    threads: int
    cells: tuple[CellResult, ...] = ()
    asked: Shape | None = None

    @property
    def trace(self) -> str:
        """The names of the measurements (cells), for links on the page."""
        return of_cells(self.cells)

    @property
    def shape(self) -> str:
        """Processes x threads as text, such as '2 x 1'."""
        return shape_text((self.processes, self.threads))


@dataclass(frozen=True)
class Topology:
    """A series of cells in which the number of processes and of threads per process vary, with a label.

    places: the measured shapes by load, ordered by arm, then by descending number of processes
    """

    label: Message
    series: Series
    places: Mapping[int, Sequence[MeasuredShape]]

    @property
    def all_places(self) -> list[MeasuredShape]:
        """The measured combinations of processes and threads at all loads, in one list."""
        return [*chain.from_iterable(self.places.values())]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A comparison at one load: one process without the GIL against one process and many processes with the GIL.

    threaded: one process with many threads, without the GIL
    one:      one process with as many threads, with the GIL
    many:     many processes, with the GIL
    over_one, over_many: throughput of *threaded* divided by that of *one* and of *many*, or why it is not known
    memory:   memory of *threaded* divided by that of *many*; None if unknown
    """

    label: Message
    load: int
    clients: int
    threaded: MeasuredShape
    one: MeasuredShape
    many: MeasuredShape
    over_one: Estimate | Message
    over_many: Estimate | Message
    memory: Estimate | None

    @property
    def cells(self) -> tuple[CellResult, ...]:
        """The measurements (cells) of the compared *threaded*, *one* and *many*, in this order."""
        return (*self.threaded.cells, *self.one.cells, *self.many.cells)


Scaling = tuple[Message, MeasuredShape, MeasuredShape, Estimate | Message]  # setting, base, another place, their ratio


def scalings(run: Run, cells: Cells, doubt: Message) -> Iterator[Scaling]:
    """Yield, for each arm of a user's service, the fewest processes and threads, more of them, and their ratio.

    doubt: why no measurements of the run can be compared, or NOTHING
    """
    swept = cells.series((SERVICES, WORKERS)) if run.plan.get("own") else []
    for each, label in zip(swept, labels(swept), strict=True):
        for places in grouped(_places(each).get(NO_LOAD, ()), attrgetter("arm")).values():
            base, *others = sorted(places, key=lambda place: place.processes * place.threads)
            below = _measured(base, NO_LOAD, each.bad)
            for place in others:
                yield label, base, place, checked_ratio(below, _measured(place, NO_LOAD, each.bad), doubt)


def topologies(cells: Cells) -> list[Topology]:
    """Return all series of a run in which the numbers of processes and threads vary, in the plan's order.

    If a user's service has no parameter for the load, its load is NO_LOAD.
    """
    kept = [
        each
        for each in (*cells.series((SERVICES, WORKERS, LOAD)), *cells.series((SERVICES, WORKERS)))
        if LOAD not in each.params and min(len(each.values(SERVICES)), len(each.values(WORKERS))) > 1
    ]
    return [Topology(label, each, _places(each)) for label, each in zip(labels(kept), kept, strict=True)]


def _places(swept: Series) -> dict[int, list[MeasuredShape]]:
    """Return the combinations of processes and threads that ran, by load.

    If the services clearly had other numbers than requested, as differ() tells, their own numbers are used.
    """
    arms = swept.arms

    def order(cell: CellResult) -> tuple[int, int, int, int]:
        return _load(cell), arms.index(cell.arm), -number(cell, SERVICES), number(cell, WORKERS)

    places: dict[int, list[MeasuredShape]] = {}
    for (load, arm, fewer, threads), group in groupby(sorted(swept.cells, key=order), order):
        cells, asked = tuple(group), (-fewer, threads)
        counted = measured_shape(cells) or asked
        shape, requested = (counted, asked) if differ(asked, counted) else (asked, None)
        place = MeasuredShape(arms[arm], *shape, cells, requested)
        places.setdefault(load, []).append(place)
    return places


def claims(run: Run, every: Sequence[Topology], cores: int, doubt: Message) -> list[Claim]:
    """Return a comparison (claim) per load and free-threaded runtime.

    The default build of the same version is used if it was measured, or else the last default build.
    Without a default build, there are no claims.
    doubt: why no measurements of the run can be compared, or NOTHING
    """
    made: list[Claim] = []
    for topology in every:
        arms = topology.series.arms
        known = sorted((name for name in runtimes(run) if name in arms), key=arms.index)
        default = [name for name in known if not name.free_threaded]
        for name in known:
            if default and not name.gil_enabled:
                base = name.version if name.version in default else default[-1]
                made += _claims(topology, name, base, cores, doubt)
    return made


def _claims(topology: Topology, free: str, default: str, cores: int, doubt: Message) -> Iterator[Claim]:
    """Yield, for each load level, a comparison (claim) of a free-threaded runtime with a default build.

    Prefers as many threads as cores, else MANY_THREADS, else the largest number of threads that was measured. Prefers
    one process with one thread for each core, else the most processes with the fewest threads.
    """
    there = topology.all_places
    threads = max(
        (place.threads for place in there if (place.arm, place.processes) == (free, 1) and place.threads > 1),
        key=lambda count: (count == cores, count == MANY_THREADS, count),
        default=max(2, cores),
    )
    shape = max(
        ((place.processes, place.threads) for place in there if place.arm == default and place.processes > 1),
        key=lambda shape: (shape == (cores, 1), shape[0], -shape[1]),
        default=(max(2, cores), 1),
    )
    for load, places in topology.places.items():
        measured = {(place.arm, place.processes, place.threads): place for place in places}
        wanted = ((free, 1, threads), (default, 1, threads), (default, *shape))
        threaded, one, many = (measured.get(each, MeasuredShape(*each)) for each in wanted)
        cells, of_one, of_many = (_measured(place, load, topology.series.bad) for place in (threaded, one, many))
        yield Claim(
            label=topology.label,
            load=load,
            clients=number(topology.series.cells[0], "NUM_CLIENTS"),
            threaded=threaded,
            one=one,
            many=many,
            over_one=checked_ratio(of_one, cells, doubt),
            over_many=checked_ratio(of_many, cells, doubt),
            memory=paired_ratio(_taken_bytes(threaded), _taken_bytes(many)),
        )


def _measured(place: MeasuredShape, load: int, bad: Sequence[CellResult]) -> list[CellResult]:
    """Return the measurements of a place, with those of *bad* that failed or are invalid there."""
    asked = place.asked or (place.processes, place.threads)
    failed = [
        cell
        for cell in bad
        if (cell.arm, number(cell, SERVICES), number(cell, WORKERS), _load(cell)) == (place.arm, *asked, load)
    ]
    return [*place.cells, *failed]


def _load(cell: CellResult) -> int:
    return number(cell, LOAD) if LOAD in cell.params else NO_LOAD


def _taken_bytes(place: MeasuredShape) -> dict[int, int]:
    """Return the total memory of the services in bytes, by block."""
    return {cell.block: taken for cell in place.cells if (taken := memory_bytes(cell.services))}
