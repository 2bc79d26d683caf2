"""The record of the experiment loadgen: each generator against the same server, and ours against each."""

from collections.abc import Mapping, Sequence
from statistics import median

from core.result import Run
from reports.rows.columns import microseconds
from reports.rows.standings import Contest, Short, Standing, client_cpu_share, contests, rate_share, share_text
from reports.rows.summary import Row
from reports.rows.versions import client_version
from reports.statistics.stats import Estimate
from reports.words.absent import absent_lines
from reports.words.markdown import markdown_table

OWN = "load-own"
HEADS = (
    "generator",
    "version",
    "keep-alive",
    "requests",
    "requests/s",
    "client CPU [us/request]",
    "our requests/s over its",
    "our CPU over its",
    "p50 [us]",
    "p99 [us]",
)
ROUNDED_TO_NOTHING_US = {"load-ab": 500, "load-hey": 50}  # ab prints whole ms, hey four decimals of a second
SEED = (
    "The seed ran gurl against ab without `-k`: a connection for every request on one side, kept connections on the "
    "other. It found 129,741 requests/s for gurl and 30,030 for ab, 4.3 times. Here keep-alive stands in every row."
)
HOW = (
    "Requests/s and CPU time are medians over the blocks. How many times ours is, here and in the sentences above, is "
    "the median over the blocks of the ratio within each, with its 95 % interval: the ratio of two medians may be "
    "another. Requests/s are each generator's own figures, CPU time is the operating system's, of the whole process. "
    "Our percentiles are of all blocks together. Of the others it is what they print (ab in whole ms), the median over "
    "the blocks. wrk knows no number of requests: it runs for as long as its warm-up showed it needs."
)


def loadgen_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: one table, what it says, what is not there."""
    found = keep_alive_contests(rows, titles)
    parts = [f"# {run.plan['name']}: {run.run_id}", *lines(run, found)]
    lines_of_table = [figures(one, contest) for contest in found for one in contest.standings]
    return "\n\n".join([*parts, markdown_table(HEADS, lines_of_table, {*HEADS[3:]}), HOW, SEED]) + "\n"


def keep_alive_contests(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Contest]:
    """The generators with keep-alive, and those without, each against ours."""
    found = []
    for keep_alive in (True, False):
        some = [row for row in rows if row.params.get("KEEP_ALIVE") is keep_alive]
        found += contests(some, titles, reference=OWN)
    return found


def lines(run: Run, found: Sequence[Contest]) -> list[str]:
    """What the record says in words, and what is not there."""
    said = [_sentence(contest) for contest in found if len(contest.standings) > 1]
    return [*said, *_seeds_own(found), *absent_lines(run)]


def _sentence(contest: Contest) -> str:
    own = contest.reference
    others = [one for one in contest.standings if one is not own]
    kept = "with keep-alive" if own.row.params["KEEP_ALIVE"] else "with a connection for each request"
    rates = "; ".join(f"{share_text(rate_share(own.row, one.row))} x {one.name}" for one in others)
    where = f"{contest.label}: " if contest.label else ""
    return f"{where}{own.name} {kept}: {own.requests_per_s:,.0f} requests/s, {rates}."


def _seeds_own(found: Sequence[Contest]) -> list[str]:
    """What the seed compared: ours with keep-alive against ab without."""
    own = [
        contest.reference
        for contest in found
        if contest.reference.row.system == OWN and contest.reference.row.params["KEEP_ALIVE"]
    ]
    ab = [
        one
        for contest in found
        for one in contest.standings
        if one.row.system == "load-ab" and not one.row.params["KEEP_ALIVE"]
    ]
    if not own or not ab:
        return []
    times = share_text(rate_share(own[0].row, ab[0].row))
    return [f"As the seed compared, ours with keep-alive against ab without: {times} x."]


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """The tables for a terminal: connections kept, and one for each request."""
    return [short(contest) for contest in keep_alive_contests(rows, titles)]


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """What the record says in words."""
    return lines(run, keep_alive_contests(rows, titles))


def short(contest: Contest) -> Short:
    """What a terminal of 80 columns has room for."""
    kept = contest.reference.row.params["KEEP_ALIVE"]
    lines = [_in_short(one, contest.reference) for one in contest.standings]
    title = "Connections are kept" if kept else "A connection for each request"
    return Short(
        title=f"{title}, {contest.label}" if contest.label else title,
        heads=("generator", "requests/s", "CPU us", "ours over its", "our CPU"),
        lines=tuple(lines),
        rows=tuple(one.row for one in contest.standings),
    )


def _in_short(one: Standing, own: Standing) -> tuple[str, ...]:
    times, cpu = _ours_over(one.row, own.row)
    cpu_text = f"{cpu.value:.2f}" if cpu else "-"
    return one.name, f"{one.requests_per_s:,.0f}", _cpu_text(one.row), share_text(times), cpu_text


def figures(one: Standing, contest: Contest) -> list[str]:
    """A generator's figures for HEADS. Ours are over its only where ours was measured."""
    row = one.row
    return [
        one.name,
        client_version(row),
        "yes" if row.params["KEEP_ALIVE"] else "no",
        f"{row.good[0].answered:,}",
        f"{one.requests_per_s:,.0f}",
        _cpu_text(row),
        *(share_text(share) for share in _ours_over(row, contest.reference.row)),
        *_percentiles(row),
    ]


def _cpu_text(row: Row) -> str:
    return microseconds(row.figures.client_cpu_ns) if row.figures and row.figures.client_cpu_ns else "-"


def _ours_over(row: Row, own: Row) -> tuple[Estimate | None, Estimate | None]:
    """Our requests/s and our CPU time per request over the row's."""
    return (rate_share(own, row), client_cpu_share(own, row)) if own.system == OWN else (None, None)


def _percentiles(row: Row) -> list[str]:
    """p50 and p99: ours of all blocks together, of another generator the median over the blocks of what it printed."""
    if row.latency.count:
        return [microseconds(row.latency.quantile(share)) for share in (0.5, 0.99)]
    return [_printed(row, name) for name in ("p50", "p99")]


def _printed(row: Row, name: str) -> str:
    printed = [
        client.get("said", {}).get("percentiles_ms", {}).get(name) for cell in row.good for client in cell.clients
    ]
    known_ms = [ms for ms in printed if ms is not None]
    if not known_ms:
        return "-"
    if not median(known_ms) and row.system in ROUNDED_TO_NOTHING_US:
        return f"<{ROUNDED_TO_NOTHING_US[row.system]}"
    return microseconds(median(known_ms) * 1e6)
