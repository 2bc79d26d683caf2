"""The report's section for the experiment league: gilscope's systems and other servers, ranked for each runtime."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from core.messages import AND, Message, listed, message, plural
from reports.document.model import Datum, Section, number
from reports.document.shapes import Col, col
from reports.document.values import hundredths, megabytes
from reports.facts.cells import Row, of_rows, request_ns
from reports.facts.comparisons import looks_at
from reports.facts.contests import Contest, Standing, contests, rate_share
from reports.statistics.significance import ALPHA, SHARES, Looks, holm
from reports.statistics.stats import Estimate, log_ratios
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "league"
OURS = ("2", "4")
HOW = message(
    "Requests/s are medians over the blocks. Ratios are paired by block, with 95 % intervals. A server outside of "
    "gilscope counts as faster if the interval of its ratio is above 1 and its p-value is at most {alpha}. The "
    "p-values are adjusted because many servers and runtimes are compared (docs/statistics.md). CPU time and memory "
    "(the sum of the services' peaks) include every process of a service. A server with another protocol needs "
    "another client, so the table also has the CPU time of the clients.",
    alpha=ALPHA,
)


@dataclass(frozen=True)
class Challenge:
    """A comparison of a server outside of gilscope with the faster of gilscope's systems 2 and 4 under one runtime.

    share: requests/s of the other server over requests/s of gilscope's system
    p: two-sided, adjusted for all other servers under all runtimes (Holm)
    """

    rival: Standing
    share: Estimate
    p: float


def section(view: View) -> Section:
    """Return a report section that ranks all servers per runtime, and names those faster than gilscope's systems."""
    ranked = contests(view.rows, view.titles, reference=OURS, kind=_runtime)
    looks = looks_at(view.run)
    every = _challenges(ranked, looks)
    sentences = [*shared.label_sentences(ranked, partial(_sentence, every=every)), *_too_few(every, looks)]
    return shared.contest_section(message("Ranking of servers"), ranked, _columns(), HOW, sentences, view)


def _runtime(row: Row) -> Message:
    return message("runtime {runtime}", runtime=row.runtime)


def _challenges(ranked: Iterable[Contest], looks: Looks) -> list[Challenge]:
    """Compare each server outside of gilscope with the faster of gilscope's systems 2 and 4.

    Servers that were not measured in the same blocks (rounds of measurement) are left out.
    All comparisons are one family for the adjustment of p.
    """
    rivals = [
        (rival, share)
        for contest in ranked
        for rival in contest.standings
        if rival.base.system in OURS and rival.row.system not in OURS and (share := rival.share)
    ]
    ratios = [log_ratios(request_ns(rival.base.good), request_ns(rival.row.good)) for rival, _ in rivals]
    adjusted = holm([looks.p(by_block) for by_block in ratios], SHARES["league"])
    return [Challenge(rival, share, p) for (rival, share), p in zip(rivals, adjusted, strict=True)]


def _columns() -> list[Col[Standing]]:
    return [
        shared.name_col(message("system"), _numbered),
        col("rank", lambda standing: str(standing.ranked.index(standing.row) + 1), str, rank=10),
        shared.RATES,
        _share_col(OURS[0]),
        _share_col(OURS[1], rank=9),
        *shared.median_cols(p50_ns=6, p99_ns=3, service_cpu_ns_per_request=2, client_cpu_ns_per_request=8),
        shared.number_col(message("memory [MB]"), _peak_bytes, megabytes, rank=7),
    ]


def _numbered(standing: Standing) -> Message:
    """Return the system's name, followed by its number if the system has a number."""
    system = standing.row.system
    if not system.isdigit():
        return standing.name
    return message("{name} (system {system})", name=standing.name, system=system)


def _share_col(system: str, rank: int = 0) -> Col[Standing]:
    """Return the column with requests/s divided by the requests/s of *system* under the same runtime."""

    def datum(standing: Standing) -> Datum | None:
        base = next((row for row in standing.ranked if row.system == system), None)
        if base is None:
            return None
        return number(rate_share(standing.row, base), hundredths, of_rows([base, standing.row]))

    return col(message("vs system {system}", system=system), datum, hundredths, rank=rank)


def _peak_bytes(standing: Standing) -> float:
    peaks = [sum(service.get("max_rss_bytes", 0) for service in cell.services) for cell in standing.row.good]
    return float(median(peaks))


def _sentence(contest: Contest, every: Iterable[Challenge]) -> Message:
    best = contest.reference
    if best.row.system not in OURS:
        return message(
            "{name} serves the most: {rate} requests/s. Systems {systems} have no figures.",
            **shared.named_rate(best),
            systems=listed(OURS, last=AND),
        )
    most = message("{name} serves {rate} requests/s, the most of gilscope's systems", **shared.named_rate(best))
    rivals = [challenge for challenge in every if challenge.rival.ranked is best.ranked]
    return message("{most}; {others}.", most=most, others=_ahead(rivals))


def _ahead(rivals: Sequence[Challenge]) -> Message:
    """Return a clause that names other servers that are faster than gilscope's best system, or seem to be faster."""
    faster = [rival for rival in rivals if rival.share.low > 1 and rival.p <= ALPHA]
    if faster:
        names = listed(message("{name} ({share})", **_args(rival)) for rival in faster)
        return message("faster servers outside of gilscope: {names}", names=names)
    ahead = [rival for rival in rivals if rival.share.value > 1]
    if not ahead:
        return message("no server outside of gilscope serves more requests/s")
    names = listed(message("{name} ({share}, p {p:.2g})", **_args(rival), p=rival.p) for rival in ahead)
    return message(
        "no server outside gilscope is significantly faster, but these have higher medians: {names}", names=names
    )


def _args(challenge: Challenge) -> dict[str, Any]:
    return {"name": challenge.rival.name, "share": shared.share_words(challenge.share, challenge.rival.row)}


def _too_few(every: Sequence[Challenge], looks: Looks) -> Iterator[Message]:
    """Yield a warning if too few blocks were measured to show that a server is faster than gilscope's systems."""
    blocks = max((challenge.share.count for challenge in every), default=0)
    enough = looks.fewest(len(every) / SHARES["league"])
    if every and blocks < enough:
        yield plural(
            "{count} block of measurements is too few to show that any of {rivals} other servers is faster than "
            "gilscope's. Use --blocks {enough}.",
            "{count} blocks of measurements are too few to show that any of {rivals} other servers is faster than "
            "gilscope's. Use --blocks {enough}.",
            count=blocks,
            rivals=len(every),
            enough=enough,
        )
