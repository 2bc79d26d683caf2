"""The report's section on capacity: the highest request rate at which each runtime or service meets its objectives."""

from collections.abc import Callable, Iterator, Sequence

from core.messages import NOTHING, Message, message, verbatim
from core.result import CellResult
from reports.document.drawing import Axis, Curve, Mark, Panel
from reports.document.model import Datum, Figure, Form, Section, interval, number, words
from reports.document.shapes import Col, arm_col, col, table, tip
from reports.document.values import hundredths, microseconds, ratio, tenths, whole
from reports.facts.capacity import Capacity, Probed, Ratio, ratios
from reports.facts.cells import grouped, memory_bytes, setting_key
from reports.facts.figures import cpu_ns
from reports.facts.settings import parameter_values
from reports.statistics.verdict import WORDS
from reports.view import View

PLACE = 11
OF_SEARCHES = True
TITLE = message("Capacity")
WORKERS, THREADS = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE"
GIB = 2**30
LOAD = 1000.0  # requests/s for which the cost is shown


def _cores(cell: CellResult) -> float | None:
    return (cpu_ns(cell.services) or 0) / cell.wall_ns if cell.wall_ns else None


def _figure(name: str, unit: float) -> Callable[[CellResult], float | None]:
    """Return a function that reads a latency percentile from a cell, in units of *unit* nanoseconds."""
    return lambda cell: cell.latency[name] / unit if name in cell.latency else None  # type: ignore[literal-required]


def _megabytes(cell: CellResult) -> float | None:
    size = memory_bytes(cell.services)
    return size / 1e6 if size else None


PANELS: tuple[tuple[Message, Callable[[CellResult], float | None], Form], ...] = (
    (message("p50 [ms]"), _figure("p50_ns", 1e6), hundredths),
    (message("p99 [ms]"), _figure("p99_ns", 1e6), hundredths),
    (message("p99.9 [ms]"), _figure("p999_ns", 1e6), hundredths),
    (message("service CPU [cores]"), _cores, ratio),
    (message("memory [MB]"), _megabytes, whole),
)


def section(view: View) -> Section:
    """Return the report's section with the result of a capacity search; empty for runs without such a search."""
    found = view.capacities
    if not found:
        return Section(key="verdict", title=TITLE)
    steps = ratios(view.run, found)
    answer = tuple(_step_sentence(one, view) for one in steps) or tuple(_sentence(one, view) for one in found)
    capacity_table = table(TITLE, _columns(view), [(NOTHING, found)])
    candidates = table(
        message("Candidate numbers of processes and threads"), _columns(view), [(NOTHING, view.candidates)], titled=True
    )
    step_table = table(message("Steps"), _step_columns(), [(NOTHING, steps)])
    notes = tuple(_cautions(view))
    probes = [(verbatim(_name(one, view)), one.probes) for one in found]
    return Section(
        key="verdict",
        title=TITLE,
        answer=answer,
        sentences=notes,
        tables=(
            capacity_table,
            *([step_table] if steps else []),
            *([candidates] if view.candidates else []),
            table(message("Probes"), _probe_columns(), probes, folded=True),
        ),
        figures=tuple(_figures(view)),
        terminal=(capacity_table, *([step_table] if steps else []), *(answer if not steps else answer[-1:]), *notes),
    )


def _objectives(view: View) -> str:
    return ", ".join(one.text for one in view.plan.objectives)


def _name(one: Capacity, view: View) -> str:
    """Return the name of a runtime or service, followed by its setting if the run has several settings.

    If the search selects among numbers of processes and threads, the selected processes x threads follow instead.
    """
    if view.plan.picks:
        return f"{one.arm} ({_topology(one)})"
    several = len({setting_key(other.system, other.params) for other in view.capacities}) > 1
    return f"{one.arm} ({one.system}: {parameter_values(one.params, tuple(one.params))})" if several else one.arm


def _sentence(one: Capacity, view: View) -> Message:
    """Return a sentence on the capacity of one runtime or service, or on why the search found no capacity."""
    name, objectives = _name(one, view), _objectives(view)
    if one.reason:
        return message("{arm}: no capacity was found, because {reason}.", arm=name, reason=one.reason)
    if one.is_generators and not one.highest_pass:
        return message(
            "{arm}: no capacity was found, because the load generator itself was late at every rate that was tried. "
            "End other programs, or give the load generator CPUs of its own with --pin.",
            arm=name,
        )
    if one.is_generators:
        return message(
            "{arm} serves at least {rate} requests/s with {objectives}. The load generator could not keep up above "
            "that rate, so the limit of the service is not known.",
            arm=name, rate=whole(one.highest_pass), objectives=objectives,
        )  # fmt: skip
    found = one.crossing
    if found is None:
        tried = whole(min((probe.rate for probe in one.probes), default=0.0))
        if one.highest_pass:
            return message(
                "{arm} serves at least {rate} requests/s with {objectives}. All rates that were tried met these "
                "objectives.",
                arm=name, rate=whole(one.highest_pass), objectives=objectives,
            )  # fmt: skip
        return message(
            "{arm}: no rate meets {objectives}. The lowest rate that was tried is {tried} requests/s. Use a "
            "looser objective.",
            arm=name, objectives=objectives, tried=tried,
        )  # fmt: skip
    return message(
        "{arm} serves {rate} requests/s with {objectives}.",
        arm=name, rate=interval(found.rate, found.low, found.high, whole), objectives=objectives,
    )  # fmt: skip


def _step_sentence(one: Ratio, view: View) -> Message:
    return message(
        "With {objectives}, {above} serves {ratio} times the requests/s of {below}: {rate} instead of {base} "
        "({verdict}).",
        objectives=_objectives(view),
        above=_name(one.above, view),
        below=_name(one.below, view),
        ratio=interval(one.ratio, one.low, one.high, ratio),
        rate=whole(one.above.crossing.rate if one.above.crossing else 0.0),
        base=whole(one.below.crossing.rate if one.below.crossing else 0.0),
        verdict=WORDS[one.verdict],
    )


def _cautions(view: View) -> Iterator[Message]:
    """Yield warnings about searches without a clear or confirmed capacity."""
    for one in view.capacities:
        name = _name(one, view)
        fails = [probed.rate for probed in one.probes if not probed.probe.passes]
        if one.crossing and one.crossing.is_cliff and one.highest_pass > min(fails):
            yield message(
                "{arm}: a probe at {high} requests/s met the objectives, but another at {low} requests/s missed them. "
                "Either the latency differs between starts of the service, or other programs used the CPU.",
                arm=name, low=whole(min(fails)), high=whole(one.highest_pass),
            )  # fmt: skip
        elif one.crossing and one.crossing.is_cliff:
            yield message(
                "{arm}: the latency rises suddenly between {low} and {high} requests/s. The capacity's interval "
                "reaches from the highest rate that met the objectives to the lowest rate that missed them.",
                arm=name, low=whole(one.crossing.low), high=whole(one.crossing.high),
            )  # fmt: skip
        elif one.crossing and one.wanted is None and not one.is_confirmed:
            yield message(
                "{arm}: the probes at 0.95 and 1.05 times the capacity did not confirm the capacity. Either the "
                "latency differs between starts of the service, or the service sometimes stalls.",
                arm=name,
            )


def _rate_datum(one: Capacity) -> Datum:
    if one.crossing:
        return number(one.crossing.rate, whole, low=one.crossing.low, high=one.crossing.high)
    if one.is_generators or one.highest_pass:
        return words(message("at least {rate}", rate=whole(one.highest_pass)))
    return words(message("none"))


def _columns(view: View) -> list[Col[Capacity]]:
    def near(read: Callable[[CellResult], float | None]) -> Callable[[Capacity], float | None]:
        return lambda one: None if one.nearest is None else read(one.nearest.cell)

    price, limit = view.plan.price, view.plan.method.limit_cpus

    def cost(one: Capacity) -> float | None:
        cores, size = near(_cores)(one), near(lambda cell: memory_bytes(cell.services))(one)
        if not (price and one.crossing and cores and size):
            return None
        return price.cost(LOAD, one.crossing.rate, limit or cores, view.plan.method.limit_memory_bytes or size)

    return [
        arm_col(lambda one: one.arm, view.looks),
        *([col(message("Topology"), _topology)] if view.plan.picks else []),
        col(message("capacity [requests/s]"), _rate_datum, whole, brief=message("capacity")),
        col(message("p50 [ms]"), near(_figure("p50_ns", 1e6)), hundredths, rank=1),
        col(message("p99 [ms]"), near(_figure("p99_ns", 1e6)), hundredths),
        col(message("service CPU [cores]"), near(_cores), ratio, brief=message("cores")),
        col(message("memory [MB]"), near(_megabytes), whole, brief=message("MB")),
        col(message("requests/s per core"), lambda one: _per(one, _cores), whole, brief=message("rps/core"), rank=1),
        col(message("requests/s per GiB"), lambda one: _per(one, _gib), whole, brief=message("rps/GiB"), rank=2),
        *([col(message("cost of 1,000 requests/s per {period}", period=price.period), cost, whole)] if price else []),
        col(message("load probes"), lambda one: float(len(one.probes)), whole, rank=3),
    ]


def _topology(one: Capacity) -> str:
    """Return processes and threads per process as text, such as '2x4'."""
    return f"{one.params[WORKERS]}x{one.params[THREADS]}"


def _gib(cell: CellResult) -> float | None:
    size = memory_bytes(cell.services)
    return size / GIB if size else None


def _per(one: Capacity, read: Callable[[CellResult], float | None]) -> float | None:
    """Return the capacity per unit of a resource, such as cores. *read* returns how much of it a measurement used."""
    used = read(one.nearest.cell) if one.nearest else None
    return one.crossing.rate / used if used and one.crossing else None


def _step_columns() -> list[Col[Ratio]]:
    return [
        col(message("step"), lambda one: verbatim(f"{one.below.arm} -> {one.above.arm}")),
        col(message("capacity ratio"), lambda one: number(one.ratio, ratio, low=one.low, high=one.high), ratio),
        col(message("verdict"), lambda one: words(WORDS[one.verdict], state=f"word {one.verdict}")),
    ]


def _probe_columns() -> list[Col[Probed]]:
    return [
        col(message("rate [requests/s]"), lambda one: one.rate, whole),
        col(
            message("requests that missed the objective, divided by the number that may miss it"),
            lambda one: one.excess,
            ratio,
        ),
        *(col(head, _of_cell(read), form) for head, read, form in PANELS),
        col(message("failed or unsent requests"), lambda one: float(one.load.failures + one.load.unsent), whole),
        col(message("load generator's delay, p99 [us]"), lambda one: one.cell.lag.get("p99_ns"), microseconds),
        col(message("duration [s]"), lambda one: one.cell.wall_ns / 1e9, tenths),
    ]


def _of_cell(read: Callable[[CellResult], float | None]) -> Callable[[Probed], float | None]:
    return lambda one: read(one.cell)


def _figures(view: View) -> Iterator[Figure]:
    """Yield a figure per setting with latency, CPU use and memory by request rate. Each mark is one measurement."""
    groups = grouped(view.capacities, lambda one: view.plan.picks or setting_key(one.system, one.params)).values()
    for place, group in enumerate(groups):
        panels = tuple(filter(None, (_panel(group, view, *one) for one in PANELS)))
        if panels:
            yield Figure(
                key=f"capacity-{place}",
                title=message("Latency, CPU and memory by request rate"),
                caption=message(
                    "Each mark is a probe, a measurement at one rate. Latency is measured from the time at which the "
                    "request was due."
                ),
                panels=panels,
            )


def _panel(
    group: Sequence[Capacity], view: View, label: Message, read: Callable[[CellResult], float | None], form: Form
) -> Panel | None:
    curves, most = [], [0.0, 0.0]
    for one in group:
        points = sorted((probed.rate, value) for probed in one.probes if (value := read(probed.cell)) is not None)
        marks = tuple(Mark(x=x, y=y, tip=tip(one.arm, form(y))) for x, y in points)
        curves.append(Curve(name=one.arm, look=view.looks[one.arm], line=tuple(points), marks=marks))
        most = [max([old, *values]) for old, values in zip(most, zip(*points, strict=True), strict=False)] or most
    if not most[0]:
        return None
    across = Axis(label=message("requests/s"), low=0.0, high=1.05 * most[0])
    return Panel(title=label, across=across, up=Axis(label=label, low=0.0, high=1.05 * most[1]), curves=tuple(curves))
