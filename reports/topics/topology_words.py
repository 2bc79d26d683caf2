"""What is said of one process of many threads beside many processes: ratios per load, and where they cross."""

from collections.abc import Sequence
from math import exp

from core.messages import AND, Message, listed, message, plural
from reports.document.model import estimate, traced
from reports.document.values import hundredths
from reports.facts.ran import shape_text
from reports.facts.settings import about
from reports.facts.topologies import NO_LOAD, Claim, Crossing, Place, Topology, load_text
from reports.facts.traces import of_cells
from reports.statistics.stats import FEWEST_FOR_INTERVAL, Estimate

UNEVEN = 1.3  # times an equal share


def sentences(claimed: Sequence[Claim], crossed: Sequence[Crossing], cores: int) -> list[Message]:
    """Ratios of every claim, every crossing, and whether there were clients enough."""
    return [
        *(traced(_claim_words(claim), of_cells(claim.cells)) for claim in claimed),
        *(traced(crossing_words(crossing), _cells(crossing.claims)) for crossing in crossed),
        *_lower_bound(claimed, cores),
    ]


def _cells(claimed: Sequence[Claim]) -> str:
    return of_cells(cell for claim in claimed for cell in claim.cells)


def not_compared(every: Sequence[Topology]) -> list[Message]:
    """What a comparison would take; nothing where there is no topology."""
    arms = dict.fromkeys(name for topology in every for name in topology.series.arms)
    sentence = message(
        "Processes and threads are not compared: that takes a free-threaded runtime and one of the default build, such "
        "as 3.14t and 3.14; measured are {arms}.",
        arms=", ".join(arms),
    )
    return [traced(sentence, of_cells(cell for topology in every for cell in topology.series.cells))] if every else []


def ran_otherwise(every: Sequence[Topology]) -> list[Message]:
    """Of each place that did not run as it was told what ran, and of each with uneven event loops their shares."""
    places = [place for topology in every for load in topology.loads for place in topology.places(load)]
    uneven = [
        traced(
            message(
                "{arm}, {shape}: one of {count} event loops had {share:.0%} of the connections.",
                arm=place.arm, shape=place.shape, count=count, share=share,
            ),
            of_cells(place.cells),
        )
        for place in places
        for count, share in [place.loop_share]
        if count > 1 and share * count > UNEVEN
    ]  # fmt: skip
    return uneven + [
        traced(
            message(
                "{arm}: asked for {asked} (processes x threads), runs as {shape}, and is compared as that.",
                arm=place.arm, asked=shape_text(place.asked), shape=place.shape,
            ),
            of_cells(place.cells),
        )
        for place in places
        if place.asked
    ]  # fmt: skip


def _claim_words(claim: Claim) -> Message:
    """Ratios of throughput and memory, and what is missing for them."""
    threaded = place_words(claim.threaded)
    single = Place(processes=1, threads=1, arm=claim.one.arm)  # the notes say that it has as many threads
    over_one = [] if claim.load == NO_LOAD else [(claim.one, single, claim.over_one)]
    sides = [*over_one, (claim.many, claim.many, claim.over_many)]
    ratios = [_times(ratio, place) for _, place, ratio in sides if ratio]
    if not claim.threaded.cells:
        clause = message("{place} was not measured, so there is nothing to compare", place=threaded)
        return about(message("{clause}.", clause=clause), claim.label, load_text(claim.load))
    clause = message("nothing can be compared with {place}", place=threaded)
    if ratios:
        clause = message("the throughput of {place} is {ratios}", place=threaded, ratios=listed(ratios, last=AND))
    if claim.over_many and claim.memory:
        clause = message("{clause}, with {ratio} times their memory", clause=clause, ratio=_ratio(claim.memory))
    if not claim.is_same_version:
        clause = message("{clause} (another version: this is version and lock together)", clause=clause)
    absent = [place_words(place) for place, _, ratio in sides if not ratio]
    if absent:
        clause = message("{clause}; not measured in the same blocks: {places}", clause=clause, places=listed(absent))
    return about(message("{clause}.", clause=clause), claim.label, load_text(claim.load))


def _times(ratio: Estimate, place: Place) -> Message:
    return message("{ratio} times that of {place}", ratio=_ratio(ratio), place=place_words(place))


def _ratio(log_ratio: Estimate) -> str:
    return estimate(log_ratio.ratio, hundredths)


def place_words(place: Place) -> Message:
    """'2 processes of 4 threads on 3.14t'; a single thread is not named."""
    if place.threads == 1:
        return plural("{count} process on {arm}", "{count} processes on {arm}", count=place.processes, arm=place.arm)
    return plural(
        "{count} process of {threads} threads on {arm}",
        "{count} processes of {threads} threads on {arm}",
        count=place.processes,
        threads=place.threads,
        arm=place.arm,
    )


def crossing_words(crossing: Crossing) -> Message:
    """From which load on the one process serves more than the many."""
    first = crossing.claims[0]
    sides = {"threaded": place_words(first.threaded), "many": place_words(first.many)}
    return about(_crossing_clause(crossing, **sides), first.label)


def _crossing_clause(crossing: Crossing, threaded: Message, many: Message) -> Message:
    swept, ahead = crossing.loads, crossing.ahead
    if crossing.is_open:
        return message(
            "fewer than {count} blocks cannot show whether {threaded} overtakes {many}.",
            count=FEWEST_FOR_INTERVAL, threaded=threaded, many=many,
        )  # fmt: skip
    if not ahead:
        return _behind(crossing, threaded, many)
    if ahead == swept:
        return message(
            "{threaded} serves more than {many} at every CALC_TARGET of the sweep, {low} to {high}.",
            threaded=threaded, many=many, low=swept[0], high=swept[-1],
        )  # fmt: skip
    if ahead == swept[-len(ahead) :]:
        return message(
            "{threaded} overtakes {many} between CALC_TARGET {low} and {high}.",
            threaded=threaded, many=many, low=swept[-len(ahead) - 1], high=ahead[0],
        )  # fmt: skip
    return message(
        "{threaded} serves more than {many} at CALC_TARGET {ahead} of {swept}.",
        threaded=threaded, many=many, ahead=listed(ahead), swept=listed(swept),
    )  # fmt: skip


def _behind(crossing: Crossing, threaded: Message, many: Message) -> Message:
    ratio, load = crossing.best
    if crossing.is_always_behind:
        return message(
            "{threaded} never overtakes {many} within the sweep; at best it serves {ratio:.2f} times as much, at "
            "CALC_TARGET {load}.",
            threaded=threaded, many=many, ratio=exp(ratio), load=load,
        )  # fmt: skip
    return message(
        "{threaded} is not shown to overtake {many} within the sweep; at best it serves {ratio:.2f} times as much, at "
        "CALC_TARGET {load}.",
        threaded=threaded, many=many, ratio=exp(ratio), load=load,
    )  # fmt: skip


def _lower_bound(claimed: Sequence[Claim], cores: int) -> list[Message]:
    """A process has no more requests under way than there are clients."""
    few = next((claim for claim in claimed if claim.clients < min(claim.threaded.threads, cores)), None)
    if few is None:
        return []
    sentence = plural(
        "{count} client keeps no more than {count} request under way at one process, fewer than it could serve at "
        "once: the figures of {shape} are a lower bound. Raise NUM_CLIENTS.",
        "{count} clients keep no more than {count} requests under way at one process, fewer than it could serve at "
        "once: the figures of {shape} are a lower bound. Raise NUM_CLIENTS.",
        count=few.clients,
        shape=few.threaded.shape,
    )
    return [traced(sentence, _cells(claimed))]
