"""Processes against threads: what one process of many threads serves beside many processes of one. Pure."""

from collections.abc import Sequence
from math import exp, isinf
from statistics import median

from core.method import SAME
from core.result import CellResult, Run
from core.runtime import RuntimeName
from reports.findings.claims import LOAD, NO_LOAD, Claim, claims, cores_usable, loads, places, topologies
from reports.rows.series import Series, about, median_requests_per_s, memory_bytes
from reports.statistics.stats import FEWEST_FOR_INTERVAL, Estimate
from reports.words.markdown import escaped, markdown_table
from reports.words.told import Told, texts

MIB = 2**20


def sentences(run: Run) -> list[str]:
    """What people look for, per load; where the one process overtakes the many; what is missing for that."""
    return texts(told(run))


def told(run: Run) -> list[Told]:
    """The sentences, each with its cells."""
    found = claims(run)
    if not found:
        every = tuple(cell for _, one in topologies(run) for cell in one.cells)
        return [Told(text=line, cells=every) for line in _why_none(run)]
    lines = [Told(text=_sentence(claim), cells=_cells([claim])) for claim in found]
    lines += [Told(text=crossing(some), cells=_cells(some)) for some in _along_load(found)]
    return [*lines, *(Told(text=line, cells=_cells(found)) for line in _lower_bounds(run, found))]


def _cells(some: Sequence[Claim]) -> tuple[CellResult, ...]:
    return tuple(cell for claim in some for place in (claim.threaded, claim.one, claim.many) for cell in place.cells)


def markdown(run: Run) -> str:
    """The sentences, every measured topology, and the crossover over CALC_TARGET; empty without topologies."""
    every = topologies(run)
    if not every:
        return ""
    lines = "\n".join(f"- {escaped(line)}" for line in [*sentences(run), *_notes(run)])
    parts = ["## Topology: processes x threads", lines, *map(_table, every)]
    crossings = [_crossover_table(some) for some in _along_load(claims(run))]
    return "\n\n".join([*parts, *(["### Crossover over CALC_TARGET", *crossings] if crossings else [])]) + "\n"


def _notes(run: Run) -> list[str]:
    client = run.plan.get("method", {}).get("client_runtime", SAME)
    under = "the service's runtime" if client == SAME else client
    figures = "Throughput is answered requests over wall time, median over the blocks; ratios are paired by block."
    single = "A single process that is compared with another has as many threads as that."
    memory = "Memory is that of all services together at the end of a cell: proportional set size, or peak resident set"
    return [f"{figures} {single} Clients ran under {under}.", f"{memory} where the system does not tell that."]


def _why_none(run: Run) -> list[str]:
    if not topologies(run):
        return []
    arms = ", ".join(dict.fromkeys(arm for _, one in topologies(run) for arm in one.arms))
    wanted = "a free-threaded runtime and one of the default build, such as 3.14t and 3.14"
    return [f"Processes and threads are not compared: that takes {wanted}; measured are {arms}."]


def _sentence(claim: Claim) -> str:
    if claim.load == NO_LOAD:
        return _own_sentence(claim)
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


def _own_sentence(claim: Claim) -> str:
    """Of a user's service, whose one process has as many threads as it was given."""
    one, many = (f"{place.shape} on {place.arm}" for place in (claim.threaded, claim.many))
    if not claim.over_many:
        return f"{about(claim.label)}{one} and {many} were not measured in the same blocks, so they are not compared."
    memory = f", with {_times(claim.memory)} the memory" if claim.memory else ""
    return (
        f"{about(claim.label)}{one} serves {_times(claim.over_many)} what {many} does{memory}{_other_version(claim)}."
    )


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
        if claim.over_many and claim.load != NO_LOAD:
            groups.setdefault((claim.label, claim.threaded.arm), []).append(claim)
    return [some for some in groups.values() if len(some) > 1]


def crossing(some: Sequence[Claim]) -> str:
    """From which load on the one process serves more than the many; some: claims by rising load, with both sides."""
    first, swept = some[0], [claim.load for claim in some]
    one, many = f"{about(first.label)}{first.threaded}", first.many
    if all(isinf(claim.over_many.half_width) for claim in some if claim.over_many):
        return f"{one} cannot be told to overtake {many} or not from fewer than {FEWEST_FOR_INTERVAL} blocks."
    ahead = [claim.load for claim in some if _leader(claim) == first.threaded.shape]
    if not ahead:
        return f"{one} {_never(some)} {many} within the sweep; {_at_best(some)}."
    if ahead == swept:
        return f"{one} serves more than {many} at every {LOAD} of the sweep, {swept[0]} to {swept[-1]}."
    if ahead == swept[-len(ahead) :]:
        return f"{one} overtakes {many} between {LOAD} {swept[-len(ahead) - 1]} and {ahead[0]}."
    return f"{one} serves more than {many} at {LOAD} {', '.join(map(str, ahead))} of {', '.join(map(str, swept))}."


def _never(some: Sequence[Claim]) -> str:
    behind = all(_leader(claim) == claim.many.shape for claim in some)
    return "never overtakes" if behind else "is not shown to overtake"


def _at_best(some: Sequence[Claim]) -> str:
    value, load = max((claim.over_many.value, claim.load) for claim in some if claim.over_many)
    return f"at best it serves {exp(value):.2f} x as much, at {LOAD} {load}"


def _leader(claim: Claim) -> str:
    """The shape that serves more, if the interval of the ratio leaves out 1; else neither."""
    seen = claim.over_many
    if seen is None or seen.low <= 0 <= seen.high:
        return "neither"
    return claim.threaded.shape if seen.low > 0 else claim.many.shape


def _lower_bounds(run: Run, found: Sequence[Claim]) -> list[str]:
    """A process has no more requests under way than there are clients."""
    few = next((claim for claim in found if claim.clients < min(claim.threaded.threads, cores_usable(run))), None)
    if few is None:
        return []
    under_way = f"{few.clients} clients keep no more than {few.clients} requests under way at one process"
    bound = f"the figures of {few.threaded.shape} are a lower bound. Raise NUM_CLIENTS"
    return [f"{under_way}, fewer than it could serve at once: {bound}."]


def _table(labelled: tuple[str, Series]) -> str:
    label, one = labelled
    heads = [LOAD, "processes x threads", "runtime", "requests/s", "memory [MiB]", "blocks"]
    lines = [
        ["-" if load == NO_LOAD else str(load), place.shape, place.arm, *_figures(place.cells), str(len(place.cells))]
        for load in loads(one)
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
