"""The experiment league: our systems and the alternatives, ranked under each runtime."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from core.messages import AND, Message, listed, message, plural
from reports.document.model import Column, Datum, Section, estimated, words
from reports.document.values import hundredths, megabytes
from reports.facts.cells import Row
from reports.facts.challenges import OURS, Challenge, best_of_ours, challenges
from reports.facts.settings import about
from reports.facts.standings import Contest, Standing, contests, rate_share
from reports.facts.traces import of_rows, together
from reports.statistics.significance import ALPHA, fewest_blocks
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "league"
HOW = message(
    "Requests/s are medians over the blocks; shares are paired by block, with their 95 % interval. An alternative is "
    "faster where both its interval and its p say so, at {alpha}; p is adjusted for all alternatives under all "
    "runtimes (docs/statistics.md). "
    "CPU time and memory (the sum of the services' peaks) count every process of a service. Rows with another "
    "protocol have another client, and its CPU time is part of what they cost.",
    alpha=ALPHA,
)


def section(view: View) -> Section:
    """A ranking for each runtime: which of ours serves most, and who is faster than it."""
    title = message("League")
    if view.plan.view != VIEW:
        return Section(key=VIEW, title=title)
    ranked = contests(view.rows, view.titles, by_runtime=True)
    beside = challenges(ranked, view.run.seed)
    sentences = [_sentence(contest, rivals) for contest, rivals in zip(ranked, beside, strict=True)]
    return shared.contest_section(
        title, ranked, shared.contest_table(ranked, _columns(), HOW), [*sentences, *_too_few(beside)], view
    )


def _columns() -> list[shared.Of[Standing]]:
    rank = Column(head=message("rank"), is_number=True, rank=10)
    return [
        (Column(head=message("system")), _system),
        (rank, lambda standing: words(str(standing.ranked.index(standing.row) + 1))),
        shared.rate_column(),
        *(_share_of(system, place) for place, system in enumerate(OURS)),
        shared.median_column("p50_ns", rank=6),
        shared.median_column("p99_ns", rank=3),
        shared.median_column("service_cpu_ns_per_request", rank=2),
        shared.median_column("client_cpu_ns_per_request", rank=8),
        shared.figure_column(message("memory [MB]"), _peak_bytes, megabytes, rank=7),
    ]


def _system(standing: Standing) -> Datum:
    """Its name; ours with their numbers."""
    row = standing.row
    if not row.system.isdigit():
        return shared.name(standing)
    numbered = message("{name} (system {system})", name=standing.name, system=row.system)
    return words(numbered, cells=of_rows([row]), leads=True)


def _share_of(system: str, place: int) -> shared.Of[Standing]:
    """Requests/s over those of *system* under the same runtime."""

    def datum(standing: Standing) -> Datum:
        base = next((row for row in standing.ranked if row.system == system), None)
        if base is None:
            return estimated(None, hundredths)
        cells = together([of_rows([base]), of_rows([standing.row])])
        return estimated(rate_share(standing.row, base), hundredths, cells)

    head = message("of system {system}'s", system=system)
    return Column(head=head, is_number=True, rank=9 if place else 0), datum


def _peak_bytes(row: Row) -> float:
    peaks = [sum(service.get("max_rss_bytes", 0) for service in cell.services) for cell in row.good]
    return float(median(peaks))


def _sentence(contest: Contest, rivals: Sequence[Challenge]) -> Message:
    best, first = best_of_ours(contest), contest.standings[0]
    if best is None:
        nothing = message(
            "{name} serves {rate} requests/s, the most; systems {systems} have no figures.",
            name=first.name,
            rate=shared.rate(first.row),
            systems=listed(OURS, last=AND),
        )
        return about(nothing, contest.label)
    most = message("{name} serves {rate} requests/s, the most of ours", name=best.name, rate=shared.rate(best.row))
    return about(message("{most}; {others}.", most=most, others=_ahead(rivals)), contest.label)


def _ahead(rivals: Sequence[Challenge]) -> Message:
    """Which alternatives are faster than the best of ours, or seem so."""
    faster = [_rival(challenge) for challenge in rivals if challenge.is_faster]
    if faster:
        return message("faster than it: {names}", names=listed(faster))
    ahead = [
        message("{name} ({share}, p {p:.2g})", **_args(challenge), p=challenge.p)
        for challenge in rivals
        if challenge.share.value > 1
    ]
    if not ahead:
        return message("no alternative serves more")
    return message("none is shown to be faster, though these are ahead: {names}", names=listed(ahead))


def _rival(challenge: Challenge) -> Message:
    return message("{name} ({share})", **_args(challenge))


def _args(challenge: Challenge) -> dict[str, Any]:
    return {"name": challenge.rival.name, "share": shared.share_words(challenge.share, challenge.rival.row)}


def _too_few(beside: Sequence[Sequence[Challenge]]) -> list[Message]:
    """That there are too few blocks for anything to be shown, where that is so."""
    every = [challenge for rivals in beside for challenge in rivals]
    blocks = max((challenge.share.count for challenge in every), default=0)
    if not every or blocks >= fewest_blocks(len(every)):
        return []
    return [
        plural(
            "{count} block cannot show that one of {rivals} is faster; {enough} can: --blocks {enough}.",
            "{count} blocks cannot show that one of {rivals} is faster; {enough} can: --blocks {enough}.",
            count=blocks,
            rivals=len(every),
            enough=fewest_blocks(len(every)),
        )
    ]
