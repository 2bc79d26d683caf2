"""Processes against threads: throughput of every shape, and where one process overtakes the many. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, isinf
from statistics import median

from core.result import Run
from reports.findings import claims
from reports.findings.claims import LOAD, Claim, Place
from reports.page.figures import Figure
from reports.page.panels import Axis, Curve, Mark, Panel
from reports.page.settings import Settings
from reports.page.tables import Group, Table, heads, number, runtime
from reports.page.traces import of_cells
from reports.rows.series import Series, labels, median_requests_per_s
from reports.rows.summary import requests_per_s

MARGIN = 0.3


def topologies(run: Run, settings: Settings, words: Mapping[str, str]) -> list[Figure]:
    """A figure of throughput for each topology, and one of the crossover where loads vary."""
    found = claims.topologies(run)
    every = [one for _, one in found]
    told = dict(zip((label for label, _ in found), labels(every, words["system_in_label"]), strict=True))
    made = [_figure(place, told[label], one, settings, words) for place, (label, one) in enumerate(found)]
    crossing = _crossover([replace(one, label=told[one.label]) for one in claims.claims(run)], settings, words)
    return [*made, *([crossing] if crossing else [])]


def _figure(place: int, label: str, one: Series, settings: Settings, words: Mapping[str, str]) -> Figure:
    loads = {load: claims.places(one, load) for load in claims.loads(one)}
    shapes = sorted({(-some.processes, some.threads) for every in loads.values() for some in every})
    order = {f"{-processes} x {threads}": float(number_) for number_, (processes, threads) in enumerate(shapes)}
    ticks = tuple((value, told) for told, value in order.items())
    across = Axis(label=words["shapes"], low=-MARGIN, high=len(order) - 1 + MARGIN, ticks=ticks)
    panels = tuple(
        Panel(
            key=f"topology-{place}-{number_}",
            title=claims.load_text(load),
            across=across,
            up=Axis(label=words["requests_s"], low=0.0, high=1.05 * _most(some)),
            curves=tuple(_curves(some, order, settings)),
        )
        for number_, (load, some) in enumerate(loads.items())
    )
    table = _table(loads, label, settings, words)
    return Figure(key=f"topology-{place}", head=label, caption=words["topology_caption"], panels=panels, table=table)


def _most(some: Sequence[Place]) -> float:
    return max((requests_per_s(cell) for place in some for cell in place.cells), default=1.0)


def _curves(some: Sequence[Place], order: Mapping[str, float], settings: Settings) -> list[Curve]:
    made = []
    for arm in dict.fromkeys(place.arm for place in some):
        mine = sorted((place for place in some if place.arm == arm), key=lambda place: order[place.shape])
        line = tuple((order[place.shape], median_requests_per_s(place.cells)) for place in mine)
        marks = tuple(
            Mark(
                x=order[place.shape],
                y=requests_per_s(cell),
                tip=f"{place.arm}, {place.shape}: {requests_per_s(cell):,.0f}",
                cells=of_cells(place.cells),
            )
            for place in mine
            for cell in place.cells
        )
        made.append(Curve(name=arm, look=settings.looks[arm], line=line, marks=marks))
    return made


def _table(loads: Mapping[int, Sequence[Place]], label: str, settings: Settings, words: Mapping[str, str]) -> Table:
    groups = [
        Group(
            head=claims.load_text(load),
            lines=tuple(
                (
                    runtime(place.arm, settings.looks[place.arm], of_cells(place.cells)),
                    number(place.shape),
                    number(f"{median(map(requests_per_s, place.cells)):,.0f}", of_cells(place.cells), "requests_per_s"),
                )
                for place in some
            ),
        )
        for load, some in loads.items()
    ]
    numbers = [words["shapes"], words["requests_s"]]
    return Table(
        name=label or words["topology"], heads=heads(words["runtime"], *numbers, numbers=numbers), groups=tuple(groups)
    )


def _crossover(found: Sequence[Claim], settings: Settings, words: Mapping[str, str]) -> Figure | None:
    """The ratio of throughputs by load, a curve for each free-threaded arm; None with one load."""
    known = [claim for claim in found if claim.over_many is not None]
    loads = sorted({claim.load for claim in known})
    if len(loads) < 2:
        return None
    order = {load: float(place) for place, load in enumerate(loads)}
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in known:
        groups.setdefault((claim.label, claim.threaded.arm), []).append(claim)
    curves = tuple(_ratio_curve(some, order, settings) for some in groups.values())
    values = [value for curve in curves for mark in curve.marks for value in (mark.y, mark.low, mark.high) if value]
    ticks = tuple((place, f"{load:,}") for load, place in order.items())
    across = Axis(label=LOAD, low=-MARGIN, high=len(loads) - 1 + MARGIN, ticks=ticks)
    up = Axis(label=words["ratio_plain"], low=min([*values, 0.9]) / 1.05, high=max([*values, 1.1]) * 1.05, is_log=True)
    panel = Panel(key="crossover-0", title="", across=across, up=up, curves=curves, level=1.0)
    caption = words["crossover_caption"]
    return Figure(key="crossover", head="", caption=caption, panels=(panel,), table=_ratios(known, settings, words))


def _ratio_curve(some: Sequence[Claim], order: Mapping[int, float], settings: Settings) -> Curve:
    marks = tuple(_ratio_mark(claim, order[claim.load]) for claim in some)
    name = " ".join(filter(None, [some[0].threaded.arm, some[0].label]))
    line = tuple((mark.x, mark.y) for mark in marks)
    assert all(one[0] <= other[0] for one, other in pairwise(line))
    return Curve(name=name, look=settings.looks[some[0].threaded.arm], line=line, marks=marks)


def _ratio_mark(claim: Claim, x: float) -> Mark:
    seen = claim.over_many
    assert seen is not None
    bounded = not isinf(seen.half_width)
    return Mark(
        x=x,
        y=exp(seen.value),
        tip=f"{exp(seen.value):.2f}",
        cells=of_cells([*claim.many.cells, *claim.threaded.cells]),
        low=exp(seen.low) if bounded else None,
        high=exp(seen.high) if bounded else None,
    )


def _ratios(known: Sequence[Claim], settings: Settings, words: Mapping[str, str]) -> Table:
    lines = []
    for claim in known:
        mark = _ratio_mark(claim, 0.0)
        interval = f" [{mark.low:.2f}, {mark.high:.2f}]" if mark.low and mark.high else ""
        name = runtime(claim.threaded.arm, settings.looks[claim.threaded.arm], mark.cells)
        lines.append(
            (name, number(f"{claim.load:,}"), number(f"{mark.y:.2f}{interval}", mark.cells, "throughput_ratio"))
        )
    titles = heads(words["runtime"], LOAD, words["ratio"], numbers=[LOAD, words["ratio"]])
    return Table(name=words["crossover_caption"], heads=titles, groups=(Group(lines=tuple(lines)),))
