"""The record of the experiment league: our systems and the alternatives, ranked under each runtime."""

from collections.abc import Mapping, Sequence
from statistics import median

from core.result import Run
from reports.contests.challenge import OURS, Challenge, best_of_ours, challenges
from reports.rows.columns import microseconds
from reports.rows.standings import Contest, Short, Standing, contests, rate_share, share_text
from reports.rows.summary import Row
from reports.statistics.significance import ALPHA, fewest_blocks
from reports.statistics.stats import Estimate
from reports.words.absent import absent_lines
from reports.words.markdown import markdown_table

HEADS = (
    "rank",
    "system",
    "requests/s",
    *(f"of system {name}'s" for name in OURS),
    "p50 [us]",
    "p99 [us]",
    "service CPU [us/request]",
    "client CPU [us/request]",
    "memory [MB]",
)
SERVICE_CPU = HEADS.index("service CPU [us/request]")
MEGABYTE = 10**6
HOW = (
    "Requests/s are medians over the blocks; shares are paired by block, with their 95 % interval. Faster is what both "
    f"the interval and p say, at {ALPHA}: p is adjusted for all alternatives under all runtimes (docs/statistics.md). "
    "CPU time and memory (the sum of the services' peaks) count every process of a service. Rows with another "
    "protocol have another client, and its CPU time is part of what they cost."
)


def league_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: a ranking for each runtime, what it says, what is not there."""
    found = rankings(rows, titles)
    parts = [f"# {run.plan['name']}: {run.run_id}", *lines(run, found)]
    for contest in found:
        table = [figures(rank, one, contest) for rank, one in enumerate(contest.standings, 1)]
        parts += [f"## {contest.label}", markdown_table(HEADS, table, {*HEADS[2:]} | {HEADS[0]})]
    return "\n\n".join([*parts, HOW]) + "\n"


def rankings(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Contest]:
    """A contest for each runtime, and for each value of what varies."""
    return contests(rows, titles, by_runtime=True)


def lines(run: Run, found: Sequence[Contest]) -> list[str]:
    """Which of ours serves most under each runtime, who is faster than it, and what is not there."""
    beside = challenges(found, run.seed)
    told = [_sentence(contest, some) for contest, some in zip(found, beside, strict=True)]
    return [*told, *_too_few(beside), *absent_lines(run)]


def _sentence(contest: Contest, beside: Sequence[Challenge]) -> str:
    best, first = best_of_ours(contest), contest.standings[0]
    if best is None:
        names = " and ".join(OURS)
        return (
            f"{contest.label}: {first.name} serves {first.requests_per_s:,.0f} requests/s, the most; systems {names} "
            "have no figures."
        )
    said = f"{contest.label}: {best.name} serves {best.requests_per_s:,.0f} requests/s, the most of ours"
    faster = [one for one in beside if one.is_faster]
    if faster:
        return f"{said}; faster than it: {', '.join(f'{one.rival.name} ({share_text(one.share)})' for one in faster)}."
    ahead = [one for one in beside if one.share.value > 1]
    if not ahead:
        return f"{said}; no alternative serves more."
    names = ", ".join(f"{one.rival.name} ({share_text(one.share)}, p {one.p:.2g})" for one in ahead)
    return f"{said}; none is shown to be faster, though these are ahead: {names}."


def _too_few(beside: Sequence[Sequence[Challenge]]) -> list[str]:
    """That there are too few blocks for anything to be shown, where that is so."""
    every = [one for some in beside for one in some]
    blocks = max((one.share.count for one in every), default=0)
    if not every or blocks >= fewest_blocks(len(every)):
        return []
    enough = fewest_blocks(len(every))
    count = f"{blocks} block{'s' * (blocks != 1)}"
    return [f"{count} cannot show that one of {len(every)} is faster; {enough} can: --blocks {enough}."]


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """The tables for a terminal, one for each runtime."""
    return [short(contest) for contest in rankings(rows, titles)]


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """What the record says in words."""
    return lines(run, rankings(rows, titles))


def short(contest: Contest) -> Short:
    """What a terminal of 80 columns has room for."""
    table = [figures(rank, one, contest) for rank, one in enumerate(contest.standings, 1)]
    kept = [HEADS.index(name) for name in ("system", "requests/s", f"of system {OURS[0]}'s", "p99 [us]")]
    return Short(
        title=contest.label,
        heads=(*(HEADS[place] for place in kept), "CPU us"),
        lines=tuple((*(line[place] for place in kept), line[SERVICE_CPU]) for line in table),
        rows=tuple(one.row for one in contest.standings),
    )


def figures(rank: int, one: Standing, contest: Contest) -> list[str]:
    """A contestant's figures for HEADS."""
    own = one.row.figures
    numbers = (own.p50_ns, own.p99_ns, own.service_cpu_ns, own.client_cpu_ns) if own else (None,) * 4
    return [
        str(rank),
        f"{one.name} (system {one.row.system})" if one.row.system.isdigit() else one.name,
        f"{one.requests_per_s:,.0f}",
        *(share_text(_share(one, name, contest)) for name in OURS),
        *(microseconds(number) if number else "-" for number in numbers),
        _memory(one.row),
    ]


def _share(one: Standing, system: str, contest: Contest) -> Estimate | None:
    """Its requests/s over those of *system* under the same runtime."""
    base = next((other.row for other in contest.standings if other.row.system == system), None)
    return rate_share(one.row, base) if base else None


def _memory(row: Row) -> str:
    peaks = [sum(service.get("max_rss_bytes", 0) for service in cell.services) for cell in row.good]
    return f"{median(peaks) / MEGABYTE:.0f}" if peaks and median(peaks) else "-"
