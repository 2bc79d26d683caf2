"""The experiment league: our systems and the alternatives, ranked under each runtime."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from core.messages import AND, Message, listed, message, plural
from reports.document.model import Datum, Section, estimated
from reports.document.shapes import Col, col
from reports.document.values import hundredths, megabytes
from reports.facts.cells import Row, request_ns
from reports.facts.standings import Contest, Standing, contests, rate_share
from reports.facts.traces import of_rows
from reports.statistics.significance import ALPHA, fewest_blocks, holm, sign_flip_p
from reports.statistics.stats import Estimate, log_ratios
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "league"
OURS = ("2", "4")
HOW = message(
    "Requests/s are medians over the blocks; shares are paired by block, with their 95 % interval. An alternative is "
    "faster where both its interval and its p say so, at {alpha}; p is adjusted for all alternatives under all "
    "runtimes (docs/statistics.md). "
    "CPU time and memory (the sum of the services' peaks) count every process of a service. Rows with another "
    "protocol have another client, and its CPU time is part of what they cost.",
    alpha=ALPHA,
)


@dataclass(frozen=True)
class Challenge:
    """An alternative beside the better of our systems, under one runtime. share: of the requests/s of ours.

    p: two-sided, adjusted for all alternatives under all runtimes (Holm)
    """

    rival: Standing
    share: Estimate
    p: float


def section(view: View) -> Section:
    """Return a ranking for each runtime: which of ours serves most, and which alternatives serve more."""
    ranked = contests(
        view.rows, view.titles, reference=OURS, kind=lambda row: message("runtime {runtime}", runtime=row.runtime)
    )
    every = _challenges(ranked, view.run.seed)
    sentences = [*shared.label_sentences(ranked, partial(_sentence, every=every)), *_too_few(every)]
    return shared.contest_section(message("League"), ranked, _columns(), HOW, sentences, view)


def _runtime(row: Row) -> Message:
    return message("runtime {runtime}", runtime=row.runtime)


def _challenges(ranked: Iterable[Contest], seed: int) -> list[Challenge]:
    """Return every alternative that shares a block with the better of ours under its runtime; all are one family."""
    rivals = [
        (rival, share)
        for contest in ranked
        for rival in contest.standings
        if rival.base.system in OURS and rival.row.system not in OURS and (share := rival.share)
    ]
    ratios = [log_ratios(request_ns(rival.base.good), request_ns(rival.row.good)) for rival, _ in rivals]
    adjusted = holm([sign_flip_p([*by_block.values()], seed=seed) for by_block in ratios])
    return [Challenge(rival, share, p) for (rival, share), p in zip(rivals, adjusted, strict=True)]


def _columns() -> list[Col[Standing]]:
    return [
        shared.name_col(message("system"), _numbered),
        col(message("rank"), lambda standing: str(standing.ranked.index(standing.row) + 1), str, rank=10),
        shared.RATES,
        _share_col(OURS[0]),
        _share_col(OURS[1], rank=9),
        *shared.median_cols(p50_ns=6, p99_ns=3, service_cpu_ns_per_request=2, client_cpu_ns_per_request=8),
        shared.number_col(message("memory [MB]"), _peak_bytes, megabytes, rank=7),
    ]


def _numbered(standing: Standing) -> Message:
    """Return its name, that of ours with its number."""
    system = standing.row.system
    if not system.isdigit():
        return standing.name
    return message("{name} (system {system})", name=standing.name, system=system)


def _share_col(system: str, rank: int = 0) -> Col[Standing]:
    """Return the column of requests/s over those of *system* under the same runtime."""

    def datum(standing: Standing) -> Datum | None:
        base = next((row for row in standing.ranked if row.system == system), None)
        if base is None:
            return None
        return estimated(rate_share(standing.row, base), hundredths, of_rows([base, standing.row]))

    return col(message("of system {system}'s", system=system), datum, hundredths, rank=rank)


def _peak_bytes(standing: Standing) -> float:
    peaks = [sum(service.get("max_rss_bytes", 0) for service in cell.services) for cell in standing.row.good]
    return float(median(peaks))


def _sentence(contest: Contest, every: Iterable[Challenge]) -> Message:
    best = contest.reference
    if best.row.system not in OURS:
        return message(
            "{name} serves {rate} requests/s, the most; systems {systems} have no figures.",
            **shared.named_rate(best),
            systems=listed(OURS, last=AND),
        )
    most = message("{name} serves {rate} requests/s, the most of ours", **shared.named_rate(best))
    rivals = [challenge for challenge in every if challenge.rival.ranked is best.ranked]
    return message("{most}; {others}.", most=most, others=_ahead(rivals))


def _ahead(rivals: Sequence[Challenge]) -> Message:
    """Return which alternatives are faster than the best of ours, by interval and p, or seem so."""
    faster = [rival for rival in rivals if rival.share.low > 1 and rival.p <= ALPHA]
    if faster:
        names = listed(message("{name} ({share})", **_args(rival)) for rival in faster)
        return message("faster than it: {names}", names=names)
    ahead = [rival for rival in rivals if rival.share.value > 1]
    if not ahead:
        return message("no alternative serves more")
    names = listed(message("{name} ({share}, p {p:.2g})", **_args(rival), p=rival.p) for rival in ahead)
    return message("none is shown to be faster, though these are ahead: {names}", names=names)


def _args(challenge: Challenge) -> dict[str, Any]:
    return {"name": challenge.rival.name, "share": shared.share_words(challenge.share, challenge.rival.row)}


def _too_few(every: Sequence[Challenge]) -> Iterator[Message]:
    """Yield that there are too few blocks for anything to be shown, if so."""
    blocks = max((challenge.share.count for challenge in every), default=0)
    if every and blocks < fewest_blocks(len(every)):
        yield plural(
            "{count} block cannot show that one of {rivals} is faster; {enough} can: --blocks {enough}.",
            "{count} blocks cannot show that one of {rivals} is faster; {enough} can: --blocks {enough}.",
            count=blocks,
            rivals=len(every),
            enough=fewest_blocks(len(every)),
        )
