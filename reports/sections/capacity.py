"""The report's section on capacity: the highest request rate at which each runtime or service meets
its objectives.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
commands/report.py saves headlines() in the run.
An arm is a compared runtime or service. A probe is one measurement at one request rate. If
plan.picks is true, the first probes chose each arm's best setting. view.capacities then have only
the later probes, at the chosen setting (analysis/capacity_search.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from analysis.capacity_probes import Probed, failures, unsent
from analysis.capacity_ratios import CapacityRatio, ratios
from analysis.capacity_search import Capacity
from analysis.cell_index import grouped
from analysis.connections import connection_notes
from analysis.formats import microseconds, ratio, tenths, whole
from analysis.metrics import METRICS, Metric, requests_per_s
from analysis.others import on_busy
from analysis.settings import HasParams, about, parameter_values, place_in_plan, varying
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from record.comparison import DECIDED, WORDS
from reports.document import (
    Axis,
    Curve,
    Datum,
    Figure,
    Mark,
    Panel,
    Section,
    interval,
    number,
    words,
)
from reports.parts.best_settings import BEST_MARK, Line, chosen_words, setting_table
from reports.tables import Col, arm_col, col, metric_col, table, tip, with_unit
from reports.view import View

PLACE = 11  # in the order of sections (reports/sections/__init__.py)
OF_SEARCHES = True  # a report on a search for the capacity has this section, too
TITLE = message("Capacity")
GIB = 2**30  # bytes
CORES, MEMORY = METRICS["service_cores"], METRICS["service_memory_bytes"]
# the metrics of a probe: columns of the table of probes, and the panels of a figure
SHOWN = (METRICS["p50_ns"], METRICS["p99_ns"], METRICS["p999_ns"], CORES, MEMORY)


def section(view: View) -> Section:
    """Return the report's section with the result of a capacity search; empty for runs without such
    a search.
    """
    found = view.capacities
    # The key is that of verdict.py, which a search does not have: commands/report.py prints the
    # section with this key last.
    if not found:
        return Section("verdict", TITLE)
    answer = headlines(view)
    capacity_table = table(TITLE, _columns(view), [(NOTHING, found)])
    candidates = setting_table(
        message(
            "Capacity of each setting [requests/s], from the measurements (probes) that chose "
            "the best setting. * marks this setting"
        ),
        [(NOTHING, _candidate_lines(view))],
    )
    notes = (*_choice_sentences(view), *_cautions(view))
    probes = [(verbatim(_name(one, view)), one.probes) for one in found]
    return Section(
        "verdict",
        TITLE,
        answer=answer,
        sentences=notes,
        tables=(
            capacity_table,
            candidates,
            table(message("Probes"), _probe_columns(view), probes, folded=True),
        ),
        figures=tuple(_figures(view)),
        terminal=(capacity_table, *answer, *notes),
    )


def headlines(view: View) -> list[Message]:
    """Return what a search for the capacity found: the ratios of capacities, or each capacity. []
    for runs without such a search.
    """
    found = view.capacities
    steps = [_step_sentence(one, view) for one in ratios(view.run, found)]
    return steps or [_sentence(one, view) for one in found]


def _objectives(view: View) -> str:
    return ", ".join(one.text for one in view.plan.objectives)


def _name(one: Capacity, view: View) -> str:
    """Return the name of a runtime or service, followed by its setting if the run has several
    settings.

    If the search chooses among several settings, the chosen one follows instead.
    """
    if view.plan.picks:
        return f"{one.arm} ({_setting(one, view)})"
    if len({other.key for other in view.capacities}) == 1:
        return one.arm
    return f"{one.arm} ({one.system}: {parameter_values(one.params, tuple(one.params))})"


def _setting(one: HasParams, view: View) -> str:
    """Return what distinguishes one of the settings that the search chooses from: '2x1, POOL 8'."""
    return place_in_plan(one.params, varying(view.plan.rows), is_own=True)


def _sentence(one: Capacity, view: View) -> Message:
    """Return a sentence on the capacity of one runtime or service, or on why the search found no
    capacity.
    """
    name, objectives, least = _name(one, view), _objectives(view), whole(one.highest_pass)
    if one.reason:
        return message(
            "{arm}: no capacity was found, because {reason}.", arm=name, reason=one.reason
        )
    if found := one.crossing:
        rate = interval(found.rate, found.low, found.high, whole, is_range=found.is_bracket)
        return message(
            "{arm} serves {rate} requests/s with {objectives}.",
            arm=name,
            rate=rate,
            objectives=objectives,
        )
    if one.is_generators and not one.highest_pass:
        return message(
            "{arm}: no capacity was found, because the load generator itself was late at every "
            "rate that was tried. End other programs, or give the load generator CPUs of its own "
            "with --pin.",
            arm=name,
        )
    if one.is_generators:
        return message(
            "{arm} serves at least {rate} requests/s with {objectives}. The load generator could "
            "not keep up above that rate, so the limit of the service is not known.",
            arm=name, rate=least, objectives=objectives,
        )  # fmt: skip
    if one.highest_pass:
        return message(
            "{arm} serves at least {rate} requests/s with {objectives}. All rates that were tried "
            "met these objectives.",
            arm=name, rate=least, objectives=objectives,
        )  # fmt: skip
    return message(
        "{arm}: no rate meets {objectives}. The lowest rate that was tried is {tried} requests/s. "
        "Use a looser objective.",
        arm=name,
        objectives=objectives,
        tried=whole(min((probe.rate for probe in one.probes), default=0.0)),
    )


def _step_sentence(one: CapacityRatio, view: View) -> Message:
    word = verdict_text(one, view)
    return message(
        "With {objectives}, {above} serves {ratio} times the requests/s of {below}: {rate} instead "
        "of {base} ({verdict}).",
        objectives=_objectives(view),
        above=_name(one.above, view),
        below=_name(one.below, view),
        ratio=interval(one.ratio, one.low, one.high, ratio, is_range=one.is_bracket),
        rate=whole(one.above.rough_rate),
        base=whole(one.below.rough_rate),
        verdict=message("{word}: {why}", word=word, why=one.why) if one.why else word,
    )


def verdict_text(one: CapacityRatio, view: View) -> Message:
    """Return a verdict that says so if other processes used much of the cores in any block of the
    search. Faster, slower and equivalent alone say so.
    """
    most = max(view.others.by_block.values()) if view.others else 0.0
    word = WORDS[one.verdict]
    return on_busy(word, most) if one.verdict in DECIDED else word


def _candidate_lines(view: View) -> list[Line]:
    """Return the lines of the settings, each with its capacity under each arm, from the probes
    that chose.
    """
    found: dict[Message, dict[str, Datum]] = {}
    for arm, choice in view.choices_of_arms.items():
        for one in choice.candidates:
            datum = replace(_rate_datum(one), mark=BEST_MARK if one is choice.best else "")
            found.setdefault(verbatim(_setting(one, view)), {})[arm] = datum
    order = [verbatim(_setting(row, view)) for row in view.plan.rows]
    return [(name, found[name]) for name in order if name in found]


def _choice_sentences(view: View) -> Iterator[Message]:
    """Yield a sentence on the choice of each arm's setting: what was chosen, and whether this may
    be chance.
    """
    for arm, choice in view.choices_of_arms.items():
        best, second = choice.best, choice.second
        if not best or not second:
            continue
        lead = message(
            "the best setting's lead over the second-best setting, {second}, may be chance",
            second=_setting(second, view),
        )
        clauses = [chosen_words(_setting(best, view), choice)]
        clauses += [lead] * _may_be_chance(best, second)
        yield about(message("{clauses}.", clauses=listed(clauses, SEMICOLON)), arm)


def _may_be_chance(best: Capacity, second: Capacity) -> bool:
    """Return whether *best* may have the higher capacity by chance alone: the intervals of the two
    capacities overlap, or one of them is missing.
    """
    # If one is missing, the lead is certain only if the best met the objectives at some rate, and
    # the second at none.
    if not (best.crossing and second.crossing):
        return bool(second.highest_pass) or not best.highest_pass
    return second.crossing.high >= best.crossing.low


def _cautions(view: View) -> Iterator[Message]:
    """Yield warnings about searches that were disturbed, or that only enclose a capacity."""
    for one in view.capacities:
        name, found = _name(one, view), one.crossing
        if doubt := one.contradiction:
            yield message(
                "{arm}: {doubt}. Either the latency differs between starts of the service, the "
                "service sometimes stalls, or other programs used the CPU.",
                arm=name,
                doubt=doubt,
            )
        if one.faulty:
            yield message(
                "{fault}. If a share of the requests may fail, add an objective such as "
                "errors<0.1%.",
                fault=one.fault,
            )
        if found and found.is_capped:
            yield message(
                "{arm}: the range ({low} - {high}) is a bracket, not a confidence interval. All "
                "rates that were tried met the objectives, and the upper end is the rate that the "
                "closed loop reached. Rates nearer to the upper end were not tried, because queues "
                "build up too slowly there.",
                arm=name, low=whole(found.low), high=whole(found.high),
            )  # fmt: skip
        elif found and found.is_bracket:
            yield message(
                "{arm}: the latency rises suddenly. The range ({low} - {high}) is a bracket, "
                "not a confidence interval. The rates that were tried do not show where "
                "between these two rates the capacity lies.",
                arm=name, low=whole(found.low), high=whole(found.high),
            )  # fmt: skip
    for note in connection_notes(view.run.cells, view.run):
        yield message("{note}.", note=note)
    if view.others and view.others.is_busy:
        yield message(
            "The machine was busy: {others}. Stop other programs, and repeat the search.",
            others=view.others.marks,
        )


def _rate_datum(one: Capacity) -> Datum:
    if one.crossing:
        found = one.crossing
        return number(found.rate, whole, low=found.low, high=found.high, is_range=found.is_bracket)
    if one.is_generators or one.highest_pass:
        return words(message("at least {rate}", rate=whole(one.highest_pass)))
    return words(message("none"))


def _columns(view: View) -> list[Col[Capacity]]:
    return [
        arm_col(lambda one: one.arm, view.looks),
        *([col("Setting", lambda one: _setting(one, view))] if view.plan.picks else []),
        col("capacity [requests/s]", _rate_datum, whole, brief=message("capacity")),
        _near_col(METRICS["p50_ns"], view, rank=1),
        _near_col(METRICS["p99_ns"], view, rank=0),
        _near_col(CORES, view, brief=message("cores")),
        _near_col(MEMORY, view, brief=verbatim("MiB")),
        col(
            "requests/s per core",
            lambda one: _per(one, CORES),
            whole,
            brief=message("rps/core"),
            rank=1,
        ),
        col(
            "requests/s per GiB",
            lambda one: _per(one, MEMORY, GIB),
            whole,
            brief=message("rps/GiB"),
            rank=2,
        ),
        col("load probes", lambda one: len(one.probes), whole, rank=3),
    ]


def _near(metric: Metric, one: Capacity) -> float | None:
    """Return the metric of the probe whose figures are shown (Capacity.nearest)."""
    return metric.read(one.nearest.cell) if one.nearest else None


def _near_col(metric: Metric, view: View, **more: Any) -> Col[Capacity]:
    if not metric.percentile:  # the heads of percentiles have their unit in common
        more["over"] = NOTHING
    return metric_col(metric, view.capacities, _near, **more)


def _per(one: Capacity, metric: Metric, unit: float = 1) -> float | None:
    """Return the requests/s per *unit* of a resource at the rate of the probe whose figures are
    shown.

    metric: how much of the resource a probe used
    """
    used, near = _near(metric, one), one.nearest
    return requests_per_s(near.cell) / used * unit if used and near else None


def _probe_columns(view: View) -> list[Col[Probed]]:
    probes = [probe for one in view.capacities for probe in one.probes]
    return [
        col("rate [requests/s]", "rate", whole),
        col(
            "requests that missed the objective, divided by the number that may miss it",
            "excess",
            ratio,
        ),
        *(metric_col(metric, probes, _of_probe) for metric in SHOWN),
        col("failed or unsent requests", lambda one: failures(one.cell) + unsent(one.cell), whole),
        col(
            "load generator's delay, p99 [us]",
            lambda one: one.cell.lag.percentile("p99"),
            microseconds,
        ),
        col("duration [s]", lambda one: one.cell.wall_ns / 1e9, tenths),
    ]


def _of_probe(metric: Metric, probe: Probed) -> float | None:
    return metric.read(probe.cell)


def _figures(view: View) -> Iterator[Figure]:
    """Yield a figure per setting with latency, CPU use and memory by request rate. Each mark is one
    measurement.
    """
    # If the search chose settings, each arm has its own, so all arms are in one figure.
    groups = grouped(view.capacities, lambda one: view.plan.picks or one.key).values()
    for place, group in enumerate(groups):
        panels = tuple(filter(None, (_panel(group, view, metric) for metric in SHOWN)))
        if panels:
            yield Figure(
                f"capacity-{place}",
                message("Latency, CPU and memory by request rate"),
                caption=message(
                    "Each mark is a probe, a measurement at one rate. Latency is measured from the "
                    "time at which the request was due."
                ),
                panels=panels,
            )


def _panel(group: Sequence[Capacity], view: View, metric: Metric) -> Panel | None:
    """Return a panel with a metric by request rate, a curve for each arm; None if no probe has the
    metric.
    """
    probes = [probe for one in group for probe in one.probes if _of_probe(metric, probe)]
    if not probes:
        return None
    most = metric.most(probe.cell for probe in probes)
    scale = metric.scale(most)
    curves = []
    for one in group:
        points = sorted(
            (probe.rate, value) for probe in one.probes if (value := _of_probe(metric, probe))
        )
        marks = [
            Mark(x=rate, y=value / scale.size, tip=tip(one.arm, scale.form(value)))
            for rate, value in points
        ]
        line = [(mark.x, mark.y) for mark in marks]
        curves.append(Curve(name=one.arm, look=view.looks[one.arm], line=line, marks=marks))
    label = with_unit(metric.label, scale)
    across = Axis(message("requests/s"), high=1.05 * max(probe.rate for probe in probes))
    up = Axis(label, high=1.05 * most / scale.size)
    return Panel(title=label, across=across, up=up, curves=curves)
