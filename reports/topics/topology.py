"""Processes against threads: throughput of every shape, and where one process overtakes the many."""

from collections.abc import Mapping, Sequence
from math import isfinite

from core.messages import Message, message, verbatim
from core.method import SAME
from core.program import PROGRAM
from reports.document.drawing import Axis, Curve, Mark, Panel
from reports.document.model import Column, Figure, Line, Section, Table, arm, columns, estimated, groups, number, words
from reports.document.shapes import tip
from reports.document.values import hundredths, mib, microseconds, whole
from reports.facts.figures import requests_per_s
from reports.facts.ran import shape_text
from reports.facts.settings import about
from reports.facts.topologies import (
    LOAD,
    Claim,
    Crossing,
    Place,
    Topology,
    claims,
    crossings,
    load_text,
    topologies,
)
from reports.facts.traces import of_cells
from reports.statistics.stats import Estimate
from reports.topics.topology_words import not_compared, place_words, ran_otherwise, sentences
from reports.view import View

PLACE = 100
WANTED = message("Processes against threads, and where they cross")
COMMAND = f"{PROGRAM} --experiment topology"
MARGIN = 0.3
RUNS_AS, COSTS = message("runs as"), (message("p99 [us]"), message("service CPU [us/request]"))
RUNTIME, SHAPES, RATE = message("Runtime"), message("processes x threads"), message("requests/s")


def section(view: View) -> Section:
    """What people look for, per load; where the one process overtakes the many; what is missing for that."""
    every, claimed = topologies(view.run), claims(view.run)
    crossed = crossings(claimed)
    lines = sentences(claimed, crossed, view.machine.available_cores) if claimed else not_compared(every)
    lines += ran_otherwise(every)
    return Section(
        key="topology",
        title=message("Topology and crossover"),
        sentences=tuple(lines),
        figures=(
            *(_figure(place, topology, view) for place, topology in enumerate(every)),
            *([_crossover(crossed, view)] if crossed else []),
        ),
        notes=_notes(view) if every else (),
        terminal=tuple(lines),
    )


def _notes(view: View) -> tuple[Message, ...]:
    client = view.plan.method.client_runtime
    throughput = message(
        "Throughput is answered requests over wall time, median over the blocks; ratios are paired by block. A single "
        "process that is compared with another has as many threads as that."
    )
    memory = message(
        "Memory is that of all services together at the end of a cell: proportional set size, or peak resident set "
        "size where the system does not report that."
    )
    shared = message(
        "Memory of several processes: those of gunicorn are forks that share the loaded application (--preload); those "
        "of other servers share nothing of it."
    )
    own = message("Clients ran under the service's runtime.")
    return (
        throughput,
        memory,
        *([shared] if view.run.plan.get("own") else []),
        own if client == SAME else message("Clients ran under {runtime}.", runtime=client),
    )


def _figure(place: int, topology: Topology, view: View) -> Figure:
    """Throughput by shape, a panel for each load."""
    loads = {load: topology.places(load) for load in topology.loads}
    shapes = sorted({(-place.processes, place.threads) for places in loads.values() for place in places})
    order = {f"{-processes} x {threads}": float(x) for x, (processes, threads) in enumerate(shapes)}
    ticks = tuple((x, shape) for shape, x in order.items())
    across = Axis(label=SHAPES, low=-MARGIN, high=len(order) - 1 + MARGIN, ticks=ticks)
    return Figure(
        key=f"topology-{place}",
        title=topology.label or message("Throughput by processes x threads"),
        caption=message("Requests answered in a second by processes x threads. More is better."),
        panels=tuple(
            Panel(
                title=verbatim(load_text(load)),
                across=across,
                up=Axis(label=RATE, low=0.0, high=1.05 * _most(places)),
                curves=tuple(_curve(name, places, order, view) for name in dict.fromkeys(p.arm for p in places)),
            )
            for load, places in loads.items()
        ),
        table=_table(loads, view),
    )


def _most(places: Sequence[Place]) -> float:
    return max((requests_per_s(cell) for place in places for cell in place.cells), default=1.0)


def _curve(name: str, places: Sequence[Place], order: Mapping[str, float], view: View) -> Curve:
    mine = sorted((place for place in places if place.arm == name), key=lambda place: order[place.shape])
    marks = tuple(
        Mark(
            x=order[place.shape],
            y=requests_per_s(cell),
            tip=tip(f"{place.arm}, {place.shape}", whole(requests_per_s(cell))),
            cells=of_cells(place.cells),
        )
        for place in mine
        for cell in place.cells
    )
    line = tuple((order[place.shape], place.requests_per_s) for place in mine)
    return Curve(name=name, look=view.looks[name], line=line, marks=marks)


def _table(loads: Mapping[int, Sequence[Place]], view: View) -> Table:
    is_counted = any(place.ran for of in loads.values() for place in of)
    shapes, costs = ((SHAPES, RUNS_AS), COSTS) if is_counted else ((SHAPES,), ())
    numbers = (*shapes, RATE, *costs, message("memory [MiB]"), message("blocks"))
    named = groups(
        (verbatim(load_text(load)), (_line(place, view, is_counted=is_counted) for place in of))
        for load, of in loads.items()
    )
    return Table(name=message("Topologies"), columns=columns([RUNTIME], numbers), groups=named)


def _line(place: Place, view: View, *, is_counted: bool) -> Line:
    cells = of_cells(place.cells)
    return (
        arm(place.arm, view.looks[place.arm], cells),
        words(shape_text(place.asked) if place.asked else place.shape),
        *([words(place.ran)] if is_counted else []),
        number(place.requests_per_s, whole, cells, "requests_per_s"),
        *([number(place.p99_ns, microseconds, cells), number(place.cpu_ns, microseconds, cells)] if is_counted else []),
        number(place.memory_bytes, mib, cells, "memory services"),
        number(len(place.cells), whole),
    )


def _crossover(crossed: Sequence[Crossing], view: View) -> Figure:
    """The ratio of throughputs by load, a curve for each free-threaded arm."""
    loads = sorted({load for crossing in crossed for load in crossing.loads})
    order = {load: float(x) for x, load in enumerate(loads)}
    curves = [(crossing.claims[0].label, _ratio_curve(crossing, order, view)) for crossing in crossed]
    values = [y for _, curve in curves for mark in curve.marks for y in (mark.y, mark.low, mark.high) if y]
    across = Axis(
        label=verbatim(LOAD),
        low=-MARGIN,
        high=len(loads) - 1 + MARGIN,
        ticks=tuple((x, f"{load:,}") for load, x in order.items()),
    )
    up = Axis(label=message("Ratio"), low=min([*values, 0.9]) / 1.05, high=max([*values, 1.1]) * 1.05, is_log=True)
    return Figure(
        key="crossover",
        title=message("Crossover over CALC_TARGET"),
        caption=message("One process of many threads over many processes of one thread: throughput ratio by load."),
        panels=tuple(
            Panel(
                title=label,
                across=across,
                up=up,
                curves=tuple(curve for name, curve in curves if name == label),
                level=1.0,
            )
            for label in dict.fromkeys(name for name, _ in curves)
        ),
        table=_ratios(crossed, view),
    )


def _ratio_curve(crossing: Crossing, order: Mapping[int, float], view: View) -> Curve:
    name = crossing.claims[0].threaded.arm
    marks = tuple(
        _ratio_mark(claim, claim.over_many, order[claim.load]) for claim in crossing.claims if claim.over_many
    )
    return Curve(name=name, look=view.looks[name], line=tuple((mark.x, mark.y) for mark in marks), marks=marks)


def _ratio_mark(claim: Claim, log_ratio: Estimate, x: float) -> Mark:
    ratio = log_ratio.ratio
    is_bounded = isfinite(ratio.high)
    return Mark(
        x=x,
        y=ratio.value,
        tip=hundredths(ratio.value),
        cells=_both(claim),
        low=ratio.low if is_bounded else None,
        high=ratio.high if is_bounded else None,
    )


def _both(claim: Claim) -> str:
    return of_cells([*claim.many.cells, *claim.threaded.cells])


def _ratios(crossed: Sequence[Crossing], view: View) -> Table:
    """A group for each crossing."""
    rates = (message("of threads [requests/s]"), message("of processes [requests/s]"))
    heads = (verbatim(LOAD), *rates, message("Ratio [95 %]"))
    return Table(
        name=message("Crossover over CALC_TARGET"),
        columns=(*columns([RUNTIME], heads), Column(head=message("serves more"))),
        groups=groups((_pair(each.claims[0]), (_ratio_line(claim, view) for claim in each.claims)) for each in crossed),
    )


def _pair(claim: Claim) -> Message:
    sides = message("{threaded} / {many}", threaded=place_words(claim.threaded), many=place_words(claim.many))
    return about(sides, claim.label)


def _ratio_line(claim: Claim, view: View) -> Line:
    threaded, many = of_cells(claim.threaded.cells), of_cells(claim.many.cells)
    ratio = claim.over_many.ratio if claim.over_many else None
    return (
        arm(claim.threaded.arm, view.looks[claim.threaded.arm], _both(claim)),
        number(claim.load, whole),
        number(claim.threaded.requests_per_s, whole, threaded, "requests_per_s"),
        number(claim.many.requests_per_s, whole, many, "requests_per_s"),
        estimated(ratio, hundredths, _both(claim), "throughput_ratio"),
        words(claim.leader.shape if claim.leader else message("neither")),
    )
