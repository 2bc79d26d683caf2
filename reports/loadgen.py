"""The record of the experiment loadgen: each generator against the same server, and ours against each."""

from collections.abc import Mapping, Sequence

from core.result import Run
from reports.absent import absent_lines
from reports.columns import microseconds
from reports.markdown import markdown_table
from reports.standings import Contest, Short, Standing, client_cpu_ratio, contests
from reports.summary import Row

OWN = "load-own"
HEADS = (
    "generator",
    "keep-alive",
    "requests",
    "requests/s",
    "client CPU [us/request]",
    "our requests/s over its",
    "our CPU over its",
    "p50 [us]",
    "p99 [us]",
)
SEED = (
    "The seed ran gurl against ab without `-k`: a connection for every request on one side, kept connections on the "
    "other. It found 129,741 requests/s for gurl and 30,030 for ab, 4.3 times. Here keep-alive stands in every row."
)
HOW = (
    "Requests/s and percentiles are each generator's own figures (oha, hey and wrk print percentiles of their own; ab "
    "in whole ms). CPU time is the operating system's, of the whole process. wrk knows no number of requests: it runs "
    "for as long as its warm-up showed it needs."
)


def loadgen_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: one table, what it says, what is not there."""
    found = keep_alive_contests(rows, titles)
    parts = [f"# {run.plan['name']}: {run.run_id}", *lines(run, found)]
    lines_of_table = [figures(one, contest) for contest in found for one in contest.standings]
    return "\n\n".join([*parts, markdown_table(HEADS, lines_of_table, {*HEADS[2:]}), HOW, SEED]) + "\n"


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
    rates = "; ".join(f"{_times(own, one)} x {one.name}" for one in others)
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
    return [f"As the seed compared, ours with keep-alive against ab without: {_times(own[0], ab[0])} x."]


def _times(own: Standing, other: Standing) -> str:
    return f"{own.requests_per_s / other.requests_per_s:.2f}"


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """The tables for a terminal: connections kept, and one for each request."""
    return [short(contest) for contest in keep_alive_contests(rows, titles)]


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """What the record says in words."""
    return lines(run, keep_alive_contests(rows, titles))


def short(contest: Contest) -> Short:
    """What a terminal of 80 columns has room for."""
    kept = contest.reference.row.params["KEEP_ALIVE"]
    lines = [(line[0], *line[3:7]) for line in (figures(one, contest) for one in contest.standings)]
    title = "Connections are kept" if kept else "A connection for each request"
    return Short(
        title=f"{title}, {contest.label}" if contest.label else title,
        heads=("generator", "requests/s", "CPU us", "ours over its", "our CPU"),
        lines=tuple(lines),
    )


def figures(one: Standing, contest: Contest) -> list[str]:
    """A generator's figures for HEADS. Ours are over its only where ours was measured."""
    own, row = contest.reference.row, one.row
    cpu_ns = row.figures.client_cpu_ns if row.figures else None
    cpu_ratio = client_cpu_ratio(own, row) if own.system == OWN else None
    return [
        one.name,
        "yes" if row.params["KEEP_ALIVE"] else "no",
        f"{row.good[0].answered:,}",
        f"{one.requests_per_s:,.0f}",
        microseconds(cpu_ns) if cpu_ns else "-",
        _inverse(one) if own.system == OWN else "-",
        f"{cpu_ratio:.2f}" if cpu_ratio else "-",
        *_percentiles(row),
    ]


def _inverse(one: Standing) -> str:
    """Our requests/s over the generator's, with the interval turned round with it."""
    share = one.share
    if share is None or not share.low:
        return "-" if share is None else f"{1 / share.value:.2f}"
    return f"{1 / share.value:.2f} [{1 / share.high:.2f}, {1 / share.low:.2f}]"


def _percentiles(row: Row) -> list[str]:
    """p50 and p99 from our histogram, or as the generator said them in its last block."""
    if row.latency.count:
        return [microseconds(row.latency.quantile(share)) for share in (0.5, 0.99)]
    said = row.good[-1].clients[0].get("said", {}).get("percentiles_ms", {})
    return [microseconds(said[name] * 1e6) if said.get(name) else "-" for name in ("p50", "p99")]
