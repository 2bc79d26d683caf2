"""Scaling: throughput against a swept number of workers, clients or sockets, and what two laws say of it."""

from collections.abc import Sequence

import numpy as np

from core.cell import PARAMETERS
from core.messages import SEMICOLON, Message, listed, message, plural, verbatim
from core.program import PROGRAM
from reports.document.drawing import Axis, Curve, Mark, Panel
from reports.document.model import (
    ABSENT,
    Figure,
    Line,
    Section,
    Table,
    arm,
    estimate,
    estimated,
    interval,
    number,
    plain_table,
    traced,
    words,
)
from reports.document.values import ratio, significant, tenths, whole
from reports.render.figures import tip
from reports.rows.scaling import NAMES, Scaling, ShortSweep, scalings, short_sweeps
from reports.rows.series import about
from reports.rows.summary import requests_per_s
from reports.rows.topologies import WORKERS
from reports.rows.traces import of_cells
from reports.sections.axes import places_of, swept_axis
from reports.statistics.scaling import FEWEST_VALUES, AmdahlFit, UslFit
from reports.view import View

PLACE = 65
WANTED = message("How throughput grows with workers and clients")
COMMAND = f"{PROGRAM} --experiment scaling"
CURVE_POINTS = 60
UNITS = {WORKERS: message("worker"), "NUM_CLIENTS": message("client"), "NUM_MULTI_SOCKET": message("socket")}
COEFFICIENTS = (
    ("usl rate", message("of 1 [requests/s]"), whole),
    ("usl sigma", verbatim("sigma"), significant),
    ("usl kappa", verbatim("kappa"), significant),
    ("usl peak", message("peak"), tenths),
    ("amdahl serial", message("serial"), significant),
    ("amdahl limit", message("limit"), tenths),
)


def section(view: View) -> Section:
    """What the laws say of each arm; a line where a sweep has too few values."""
    fitted = scalings(view.run)
    sentences = (*map(_sentence, fitted), *map(_too_short, short_sweeps(view.run)))
    return Section(
        key="scaling",
        title=message("Scaling"),
        sentences=sentences,
        figures=tuple(_figures(fitted, view)),
        tables=(_table(fitted, view),),
        notes=_notes(view) if fitted else (),
        terminal=sentences,
    )


def is_measured(view: View) -> bool:
    """Whether any sweep has enough values."""
    return bool(scalings(view.run))


def _too_short(sweep: ShortSweep) -> Message:
    return traced(
        plural(
            "{name} has {count} value: a scaling fit takes at least {least}.",
            "{name} has {count} values: a scaling fit takes at least {least}.",
            count=sweep.values,
            name=sweep.name,
            least=FEWEST_VALUES,
        ),
        of_cells(sweep.cells),
    )


def _sentence(scaling: Scaling) -> Message:
    clauses = [
        *([_usl_words(scaling, scaling.usl)] if scaling.usl else []),
        _peak_words(scaling),
        *([_amdahl_words(scaling.amdahl)] if scaling.amdahl else []),
        *([scaling.why] if scaling.why else []),
    ]
    sentence = about(
        message("{clauses}.", clauses=listed(clauses, SEMICOLON)), scaling.name, scaling.label, scaling.arm
    )
    return traced(sentence, of_cells(scaling.every_cell))


def _usl_words(scaling: Scaling, usl: UslFit) -> Message:
    return message(
        "1 {unit} serves {rate} requests/s; contention sigma {sigma}, coherency kappa {kappa}",
        unit=UNITS[scaling.name],
        rate=estimate(usl.rate, whole),
        sigma=estimate(usl.sigma, significant),
        kappa=estimate(usl.kappa, significant),
    )


def _peak_words(scaling: Scaling) -> Message:
    """Whether throughput falls again, as the blocks show; where the law has its peak, if it does."""
    last = max(scaling.judged)
    if scaling.best is None:
        return message("no peak is claimed: throughput at {last} is not shown to be below that at fewer", last=last)
    n, verdict = scaling.best
    share = interval(verdict.ratio or 0.0, verdict.low or 0.0, verdict.high or 0.0, ratio)
    seen = message("throughput at {last} is {share} of that at {n}", last=last, n=n, share=share)
    if scaling.peak is None:
        return seen
    return message("{seen}, and by the law it peaks at {peak}", seen=seen, peak=estimate(scaling.peak, tenths))


def _amdahl_words(amdahl: AmdahlFit) -> Message:
    serial = estimate(amdahl.serial, significant)
    if amdahl.limit is None:
        return message("by Amdahl's law {serial} of the work is serial, and no limit is claimed", serial=serial)
    return message(
        "by Amdahl's law {serial} of the work is serial, so that no number serves more than {limit} times as much as 1",
        serial=serial,
        limit=estimate(amdahl.limit, tenths),
    )


def _notes(view: View) -> tuple[Message, ...]:
    laws = message(
        "Universal Scalability Law and Amdahl's law, fitted to the median throughput at each value; intervals of 95 %."
    )
    cores = view.machine.available_cores
    shared = plural(
        "Services and clients shared {count} core: what it cannot serve looks like contention. Fits end there.",
        "Services and clients shared {count} cores: what these cannot serve looks like contention. Fits end there.",
        count=cores,
    )
    return (laws, shared) if cores else (laws,)


def _figures(fitted: Sequence[Scaling], view: View) -> list[Figure]:
    """A figure for each parameter with a fit, a panel for each setting."""
    by_name = {name: [scaling for scaling in fitted if scaling.usl and scaling.name == name] for name in NAMES}
    return [_figure(name, mine, view) for name, mine in by_name.items() if mine]


def _figure(name: str, fitted: Sequence[Scaling], view: View) -> Figure:
    values = places_of(n for scaling in fitted for n in scaling.throughput)
    across = swept_axis(values, verbatim(PARAMETERS[name].label))
    most = max(rate for scaling in fitted for rates in scaling.blocks.values() for rate in rates)
    up = Axis(label=message("requests/s"), low=0.0, high=1.08 * most)
    return Figure(
        key=f"scaling-{name.lower()}",
        title=message("Throughput against {name}", name=name),
        caption=message("Line: Universal Scalability Law through the medians. Marks: single cells. More is better."),
        panels=tuple(
            Panel(
                title=label,
                across=across,
                up=up,
                curves=tuple(_curve(scaling, view) for scaling in fitted if scaling.label == label),
            )
            for label in dict.fromkeys(scaling.label for scaling in fitted)
        ),
    )


def _curve(scaling: Scaling, view: View) -> Curve:
    usl = scaling.usl
    assert usl is not None
    many = np.geomspace(min(scaling.fitted), max(scaling.fitted), CURVE_POINTS)
    marks = tuple(
        Mark(
            x=n,
            y=requests_per_s(cell),
            tip=tip(f"{scaling.arm}, {n}", whole(requests_per_s(cell))),
            cells=of_cells([cell]),
        )
        for n, cells in scaling.cells.items()
        for cell in cells
    )
    line = tuple((float(n), usl.at(float(n))) for n in many)
    return Curve(name=scaling.arm, look=view.looks[scaling.arm], line=line, marks=marks)


def _table(fitted: Sequence[Scaling], view: View) -> Table:
    numbers = (message("values"), *(head for _, head, _ in COEFFICIENTS))
    heads = (message("Runtime"), message("Sweep"), message("Setting"))
    lines = [_line(scaling, view) for scaling in fitted]
    return plain_table(message("Coefficients of both laws [95 %]"), heads, lines, numbers, folded=True)


def _line(scaling: Scaling, view: View) -> Line:
    cells, usl, amdahl = of_cells(scaling.every_cell), scaling.usl, scaling.amdahl
    of_usl = (usl.rate, usl.sigma, usl.kappa, scaling.peak) if usl else (None,) * 4
    of_amdahl = (amdahl.serial, amdahl.limit) if amdahl else (None,) * 2
    coefficients = zip((*of_usl, *of_amdahl), COEFFICIENTS, strict=True)
    return (
        arm(scaling.arm, view.looks[scaling.arm], cells),
        words(scaling.name),
        words(scaling.label or verbatim(ABSENT)),
        number(len(scaling.fitted), whole),
        *(estimated(of, form, cells, figure) for of, (figure, _, form) in coefficients),
    )
