"""The section "Processes compared with threads" of a report: throughput by number of processes and threads."""

from collections.abc import Iterator, Sequence

from core.messages import AND, SEMICOLON, Message, listed, message, plural, verbatim
from core.method import SAME
from core.program import PROGRAM
from core.runtime import RuntimeName
from reports.document.model import Axis, Figure, Form, Panel, Section, Table, estimate, traced
from reports.document.shapes import Col, Spot, arm_col, arm_lines, col, table
from reports.document.values import hundredths, mib, microseconds, whole
from reports.facts.cells import memory_bytes, of_cells
from reports.facts.comparisons import doubt
from reports.facts.figures import Reader, cpu_ns, median_of, per_request, requests_per_s
from reports.facts.settings import about
from reports.facts.topologies import (
    LOAD,
    NO_LOAD,
    Claim,
    MeasuredShape,
    Scaling,
    Topology,
    claims,
    measured_shape,
    scalings,
    shape_text,
    topologies,
)
from reports.statistics.stats import Estimate
from reports.view import View

PLACE = 46
WANTED = message("Throughput of many processes compared with one process of many threads")
COMMAND = f"{PROGRAM} --experiment topology"
MARGIN = 0.3
SHAPES, RATE = message("processes x threads"), message("requests/s")


def section(view: View) -> Section:
    """Return the report's section that compares one process of many threads with many processes, by load."""
    every = topologies(view.cells)
    doubted = doubt(view.comparisons)
    claimed = claims(view.run, every, view.machine.available_cores, doubted)
    scaled = [] if claimed else [*map(_scaling_sentence, scalings(view.run, view.cells, doubted))]
    lines = (
        *([_not_compared_sentence(every)] if every and not (claimed or scaled) else scaled),
        *(traced(_claim_sentence(claim), of_cells(claim.cells)) for claim in claimed),
        *_lower_bound_sentences(claimed, view.machine.available_cores),
        *_shape_sentences(every),
    )
    return Section(
        "topology",
        message("Processes compared with threads"),
        sentences=lines,
        figures=(*(_figure(f"topology-{place}", topology, view) for place, topology in enumerate(every)),),
        notes=_notes(view) if every else (),
        terminal=lines,
    )


def _notes(view: View) -> tuple[Message, ...]:
    client = view.plan.method.client_runtime
    shared = message(
        "Memory of several processes: gunicorn's processes are forks that share the loaded application (--preload). "
        "The processes of other servers do not share the application."
    )
    return (
        message(
            "Throughput is answered requests divided by the counted time, as the median over the blocks (measured "
            "rounds). Ratios are paired by block. Brackets hold a 95 % interval, and parentheses the range of fewer "
            "than 6 blocks. If one process is compared with one other process, both have the same number of threads."
        ),
        message(
            "Memory is the total of all services at the end of a measurement, as the proportional set size (PSS), or "
            "as the peak resident set size if the system does not report the PSS."
        ),
        *([shared] if view.run.plan.get("own") else []),
        message("Clients ran under the same runtime as the services.")
        if client == SAME
        else message("All clients ran under {runtime}.", runtime=client),
    )


# ---- sentences -----------------------------------------------------------------------------------------------------


def _cells_of(claimed: Sequence[Claim]) -> str:
    return of_cells(cell for claim in claimed for cell in claim.cells)


def _load_text(load: int) -> str:
    """Return the load as text, such as 'CALC_TARGET 1000'; empty for NO_LOAD."""
    return "" if load == NO_LOAD else f"{LOAD} {load}"


def _place_words(place: MeasuredShape) -> Message:
    """Return numbers of processes and threads as text, such as '2 processes of 4 threads on 3.14t'."""
    if place.threads == 1:
        return plural("{count} process on {arm}", "{count} processes on {arm}", count=place.processes, arm=place.arm)
    return plural(
        "{count} process of {threads} threads on {arm}",
        "{count} processes of {threads} threads on {arm}",
        count=place.processes,
        threads=place.threads,
        arm=place.arm,
    )


def _not_compared_sentence(every: Sequence[Topology]) -> Message:
    """Return the sentence on the runtimes that are missing for a comparison of processes and threads."""
    arms = dict.fromkeys(arm for topology in every for arm in topology.series.arms)
    sentence = message(
        "Processes and threads cannot be compared, because this run measured only {arms}. The comparison needs a "
        "free-threaded runtime and a default build, such as 3.14t and 3.14.",
        arms=", ".join(arms),
    )
    return traced(sentence, of_cells(cell for topology in every for cell in topology.series.cells))


def _claim_sentence(claim: Claim) -> Message:
    """Return a sentence that compares one free-threaded process with one process, and with many, under a GIL.

    It compares the throughput, and the memory if it is known.
    """
    return about(message("{clause}.", clause=_claim_clause(claim)), claim.label, _load_text(claim.load))


def _claim_clause(claim: Claim) -> Message:
    threaded, many = _place_words(claim.threaded), _place_words(claim.many)
    if not claim.threaded.cells:
        return message("{place} was not measured, so no comparison is possible", place=threaded)
    sides = [(many, many, claim.over_many)]
    if claim.load != NO_LOAD:  # the notes say that both single processes have the same number of threads
        sides = [(_place_words(MeasuredShape(claim.one.arm, 1, 1)), _place_words(claim.one), claim.over_one), *sides]
    ratios = [
        message("{ratio} times the throughput of {place}", ratio=estimate(ratio, hundredths), place=brief)
        for brief, _, ratio in sides
        if isinstance(ratio, Estimate)
    ]
    absent = [
        message("no comparison with {place}: {reason}", place=place, reason=ratio)
        for _, place, ratio in sides
        if isinstance(ratio, Message)
    ]
    clause = message("{place} has no measurement of this run to compare with", place=threaded)
    if ratios:
        clause = message("{place} has {ratios}", place=threaded, ratios=listed(ratios, last=AND))
    if isinstance(claim.over_many, Estimate) and claim.memory:
        clause = message(
            "{clause}, and {ratio} times the memory of the variant with several processes",
            clause=clause, ratio=estimate(claim.memory, hundredths),
        )  # fmt: skip
    if RuntimeName(claim.threaded.arm).version != RuntimeName(claim.one.arm).version:
        clause = message("{clause} (the ratio includes the effect of different Python versions)", clause=clause)
    if absent:
        clause = listed([clause, *absent], SEMICOLON)
    return clause


def _scaling_sentence(one: Scaling) -> Message:
    """Return a sentence that compares two numbers of processes and threads under the same arm."""
    label, base, place, ratio = one
    shown = {"shape": place.shape, "base": base.shape}
    if isinstance(ratio, Estimate):
        times = estimate(ratio, hundredths)
        found = message(
            "{shape} (processes x threads) has {ratio} times the throughput of {base}.", ratio=times, **shown
        )
    else:
        found = message("no comparison of {shape} (processes x threads) with {base}: {reason}.", reason=ratio, **shown)
    return traced(about(found, label, place.arm), of_cells((*base.cells, *place.cells)))


def _lower_bound_sentences(claimed: Sequence[Claim], cores: int) -> list[Message]:
    """Return a warning if there were too few clients to keep one process busy; otherwise no sentence.

    A process has at most as many requests in flight as there are clients.
    """
    for claim in claimed:
        if claim.clients < min(claim.threaded.threads, cores):
            few = plural(
                "With {count} client, one process serves at most {count} request at a time, although it could "
                "serve more. The figures of {shape} (processes x threads) are therefore a lower bound. Raise "
                "NUM_CLIENTS.",
                "With {count} clients, one process serves at most {count} requests at a time, although it could "
                "serve more. The figures of {shape} (processes x threads) are therefore a lower bound. Raise "
                "NUM_CLIENTS.",
                count=claim.clients,
                shape=claim.threaded.shape,
            )
            return [traced(few, _cells_of(claimed))]
    return []


def _shape_sentences(every: Sequence[Topology]) -> Iterator[Message]:
    """Yield sentences on unexpected numbers of processes or threads."""
    for place in [place for topology in every for place in topology.all_places]:
        if place.asked:
            reshaped = message(
                "{arm}: the service was configured as {asked} (processes x threads) but ran as {shape}. Comparisons "
                "use {shape}.",
                arm=place.arm, asked=shape_text(place.asked), shape=place.shape,
            )  # fmt: skip
            yield traced(reshaped, place.trace)


# ---- figures -------------------------------------------------------------------------------------------------------


def _across(label: Message, names: Sequence[str]) -> Axis:
    """Return an x axis with one tick per name, at equal distances."""
    ticks = [(float(x), name) for x, name in enumerate(names)]
    return Axis(label, low=-MARGIN, high=len(names) - 1 + MARGIN, ticks=ticks)


def _figure(key: str, topology: Topology, view: View) -> Figure:
    """Return a chart of throughput by processes x threads, with a panel per load."""
    ordered = sorted(topology.all_places, key=lambda place: (-place.processes, place.threads))
    shapes = list(dict.fromkeys(place.shape for place in ordered))

    def spot(place: MeasuredShape) -> tuple[str, Spot]:
        rates, name = [*map(requests_per_s, place.cells)], f"{place.arm}, {place.shape}"
        return place.arm, Spot(shapes.index(place.shape), rates, place.trace, name)

    return Figure(
        key,
        topology.label or message("Throughput by processes x threads"),
        caption=message("Requests answered per second, by number of processes x threads per process. More is better."),
        panels=tuple(
            Panel(
                title=verbatim(_load_text(load)),
                across=_across(SHAPES, shapes),
                up=Axis(
                    RATE,
                    high=1.05 * max(requests_per_s(cell) for place in places for cell in place.cells),
                ),
                curves=arm_lines(map(spot, places), view.looks, whole),
            )
            for load, places in topology.places.items()
        ),
        table=_table(topology, view),
    )


def _table(topology: Topology, view: View) -> Table:
    """Return the table of all measured combinations of processes and threads, by load.

    Some columns are shown only if the service's processes were counted.
    """
    is_counted = any(map(_ran_as, topology.all_places))
    counted: list[Col[MeasuredShape]] = [
        _median_col(message("p99 [us]"), lambda cell: cell.latency.get("p99_ns"), microseconds),
        _median_col(
            message("service CPU [us/request]"), lambda cell: per_request(cpu_ns(cell.services), cell), microseconds
        ),
    ]
    groups = ((verbatim(_load_text(load)), places) for load, places in topology.places.items())
    return table(
        message("Results by processes x threads"),
        [
            arm_col("arm", view.looks),
            col(SHAPES, lambda place: shape_text(place.asked) if place.asked else place.shape, whole),
            *([col("actual processes and threads", _ran_as, whole)] if is_counted else []),
            _median_col(RATE, requests_per_s, whole, "requests_per_s"),
            *(counted if is_counted else []),
            _median_col(message("memory [MiB]"), lambda cell: memory_bytes(cell.services), mib, "memory services"),
            col("blocks", lambda place: len(place.cells), whole),
        ],
        groups,
    )


def _median_col(head: Message, read: Reader, form: Form, figure: str = "") -> Col[MeasuredShape]:
    return col(head, lambda place: median_of(read, place.cells), form, figure, "trace")


def _ran_as(place: MeasuredShape) -> str:
    counted = measured_shape(place.cells)
    return shape_text(counted) if counted else ""
