"""The record of the experiment league: our systems and the alternatives, ranked under each runtime."""

from collections.abc import Mapping, Sequence
from statistics import median

from core.result import Run
from reports.absent import absent_lines
from reports.columns import microseconds
from reports.markdown import markdown_table
from reports.standings import Contest, Short, Standing, contests, share_text
from reports.summary import Row

OWN = "2"
OURS = ("2", "4")
HEADS = (
    "rank",
    "system",
    "requests/s",
    "of system 2's",
    "p50 [us]",
    "p99 [us]",
    "service CPU [us/request]",
    "client CPU [us/request]",
    "memory [MB]",
)
MEGABYTE = 10**6
HOW = (
    "Requests/s are medians over the blocks; shares are paired by block, with their 95 % interval. CPU time and memory "
    "(the sum of the services' peaks) count every process of a service. Rows with another protocol have another "
    "client, and its CPU time is part of what they cost."
)


def league_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: a ranking for each runtime, what it says, what is not there."""
    found = rankings(rows, titles)
    parts = [f"# {run.plan['name']}: {run.run_id}", *lines(run, found)]
    for contest in found:
        table = [figures(rank, one) for rank, one in enumerate(contest.standings, 1)]
        parts += [f"## {contest.label}", markdown_table(HEADS, table, {*HEADS[2:]} | {HEADS[0]})]
    return "\n\n".join([*parts, HOW]) + "\n"


def rankings(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Contest]:
    """A contest for each runtime, and for each value of what varies; system 2 is the reference where it took part."""
    return contests(rows, titles, reference=OWN, by_runtime=True)


def lines(run: Run, found: Sequence[Contest]) -> list[str]:
    """Who serves most under each runtime, who is surely faster than system 2, and what is not there."""
    return [*(_sentence(contest) for contest in found), *absent_lines(run)]


def _sentence(contest: Contest) -> str:
    base, first = contest.reference, contest.standings[0]
    said = f"{contest.label}: {base.name} serves {base.requests_per_s:,.0f} requests/s"
    if base.row.system != OWN:
        return f"{said}, the most; system {OWN} has no figures."
    faster = [one for one in contest.standings if one.row.system not in OURS and _surely_faster(one)]
    if faster:
        return f"{said}; faster than it: {', '.join(_faster(one) for one in faster)}."
    if first.row.system in OURS:
        return f"{said}; no alternative serves more than {first.name}."
    return f"{said}; no alternative is surely faster (the first, {first.name}, at {share_text(first.share)})."


def _surely_faster(one: Standing) -> bool:
    return one.share is not None and one.share.low > 1


def _faster(one: Standing) -> str:
    return f"{one.name} ({share_text(one.share)})"


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """The tables for a terminal, one for each runtime."""
    return [short(contest) for contest in rankings(rows, titles)]


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """What the record says in words."""
    return lines(run, rankings(rows, titles))


def short(contest: Contest) -> Short:
    """What a terminal of 80 columns has room for."""
    table = (figures(rank, one) for rank, one in enumerate(contest.standings, 1))
    return Short(
        title=contest.label,
        heads=("system", *HEADS[2:4], HEADS[5], "CPU us"),
        lines=tuple((line[1], *line[2:4], line[5], line[6]) for line in table),
    )


def figures(rank: int, one: Standing) -> list[str]:
    """A contestant's figures for HEADS."""
    own = one.row.figures
    numbers = (own.p50_ns, own.p99_ns, own.service_cpu_ns, own.client_cpu_ns) if own else (None,) * 4
    return [
        str(rank),
        f"{one.name} (system {one.row.system})" if one.row.system.isdigit() else one.name,
        f"{one.requests_per_s:,.0f}",
        share_text(one.share),
        *(microseconds(number) if number else "-" for number in numbers),
        _memory(one.row),
    ]


def _memory(row: Row) -> str:
    peaks = [sum(service.get("max_rss_bytes", 0) for service in cell.services) for cell in row.good]
    return f"{median(peaks) / MEGABYTE:.0f}" if peaks and median(peaks) else "-"
