"""The record of the experiment echo, in the form of the seed's: each row as it was measured, and who is fastest."""

from collections.abc import Mapping, Sequence
from math import sqrt

from core.histogram import Histogram, bounds_ns
from core.result import Run
from reports.contests.seed_echo import seed_table
from reports.rows.columns import microseconds
from reports.rows.standings import Contest, Short, Standing, contests, mean_latency_ns, share_text
from reports.rows.summary import Row
from reports.rows.versions import service_version
from reports.words.absent import absent_lines
from reports.words.markdown import markdown_table

SHARES = ("25", "50", "75", "90", "99", "99.99")
SAMPLES_FOR_LAST = 100_000
DELAYED_ACK_NS = 35_000_000
HEADS = (
    "server",
    "version",
    "requests/s",
    "MiB/s",
    "mean [us]",
    "p99 [us]",
    "server CPU [us/request]",
    "share of the fastest",
)


def echo_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: one table for each setting, what is not there and why, each row in the seed's form, the seed's own."""
    found = contests(rows, titles)
    parts = [f"# {run.plan['name']}: {run.run_id}", *lines(run, found)]
    for contest in found:
        parts += [f"## {contest.label or 'All servers'}", markdown_table(HEADS, table(contest, run), {*HEADS[2:]})]
    parts += ["## Each row in the seed's form", *(block(one) for contest in found for one in contest.standings)]
    return "\n\n".join([*parts, seed_table()]) + "\n"


def lines(run: Run, found: Sequence[Contest]) -> list[str]:
    """What the record says in words: the fastest at each setting, 40 ms rows if there are any, what is not there."""
    said = [_sentence(contest) for contest in found]
    return [*said, _delayed(found), *absent_lines(run)]


def _sentence(contest: Contest) -> str:
    first, *others = contest.standings
    rest = "; ".join(f"{one.name} {share_text(one.share)}" for one in others)
    where = f"{contest.label}: " if contest.label else ""
    return f"{where}{first.name} is first with {first.requests_per_s:,.0f} requests/s" + (f"; {rest}." if rest else ".")


def _delayed(found: Sequence[Contest]) -> str:
    every = [(contest, one) for contest in found for one in contest.standings]
    slow = [
        f"{one.name} ({contest.label})"
        for contest, one in every
        if one.row.latency.count and one.row.latency.quantile(0.5) >= DELAYED_ACK_NS
    ]
    if slow:
        return f"Half of the requests took 35 ms or more, as with Nagle against delayed ACK: {'; '.join(slow)}."
    if not every:
        return "Nothing was measured."
    nodelay = "on" if all(one.row.params["NODELAY"] for _, one in every) else "off in some rows"
    return f"No row is a 40 ms row (Nagle's algorithm against delayed ACK, as in the seed): TCP_NODELAY is {nodelay}."


def table(contest: Contest, run: Run) -> list[list[str]]:
    """For HEADS the contestants, which version of each was measured, and their figures."""
    return [[one.name, service_version(run, one.row), *_figures(one)] for one in contest.standings]


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """The tables for a terminal, one for each setting."""
    return [short(contest) for contest in contests(rows, titles)]


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """What the record says in words."""
    return lines(run, contests(rows, titles))


def short(contest: Contest) -> Short:
    """What a terminal of 80 columns has room for."""
    figures = [(one.name, *_figures(one)) for one in contest.standings]
    lines = [(line[0], line[1], line[3], line[4], line[6]) for line in figures]
    heads = ("server", "requests/s", "mean us", "p99 us", "of the fastest")
    rows = tuple(one.row for one in contest.standings)
    return Short(title=contest.label or "All servers", heads=heads, lines=tuple(lines), rows=rows)


def _figures(one: Standing) -> list[str]:
    cpu_ns = one.row.figures.service_cpu_ns if one.row.figures else None
    mean_ns = mean_latency_ns(one.row.good)
    return [
        f"{one.requests_per_s:,.0f}",
        f"{one.requests_per_s * _message_bytes(one.row) / 2**20:,.1f}",
        microseconds(mean_ns) if mean_ns else "-",
        microseconds(one.row.figures.p99_ns) if one.row.figures and one.row.figures.p99_ns else "-",
        microseconds(cpu_ns) if cpu_ns else "-",
        share_text(one.share),
    ]


def _message_bytes(row: Row) -> int:
    size = row.params["MESSAGE_BYTES"]
    assert isinstance(size, int)
    return size


def block(one: Standing) -> str:
    """One row as the seed writes it, all blocks together; requests/s x mean latency shows the real concurrency."""
    row, latency, size = one.row, one.row.latency, _message_bytes(one.row)
    seconds = sum(cell.wall_ns for cell in row.good) / 1e9
    mean_ms, spread_ms = latency.total_ns / latency.count / 1e6, deviation_ns(latency) / 1e6
    shares = [share for share in SHARES if share != SHARES[-1] or latency.count >= SAMPLES_FOR_LAST]
    below = "; ".join(f"{share}% under {latency.quantile(float(share) / 100) / 1e6:.3f}ms" for share in shares)
    concurrency = one.requests_per_s * mean_ms / 1e3
    text = [
        f"{one.name}, connections: {row.params['NUM_CONNECTIONS_PER_CLIENT']}, runtime: {row.runtime}",
        f"{latency.count} {size / 1024:.2f}KiB messages in {seconds:.0f} seconds ({len(row.good)} blocks)",
        (
            f"Latency: min {latency.min_ns / 1e6:.3f}ms; max {latency.max_ns / 1e6:.3f}ms; mean {mean_ms:.3f}ms; "
            f"std: {spread_ms:.3f}ms ({spread_ms / mean_ms:.2%})"
        ),
        f"Latency distribution: {below}",
        f"Requests/sec: {one.requests_per_s:.2f}",
        f"Transfer/sec: {one.requests_per_s * size / 2**20:.2f}MiB",
        (
            f"Requests/sec x mean latency: {concurrency:.2f}; TCP_NODELAY {'on' if row.params['NODELAY'] else 'off'}; "
            f"buffers {row.params['BUFFER_BYTES'] or 'as the kernel has them'}"
        ),
    ]
    return "```\n" + "\n".join(text) + "\n```"


def deviation_ns(latency: Histogram) -> float:
    """Standard deviation of the recorded values, each taken as the middle of its bucket."""
    mean = latency.total_ns / latency.count
    squares = 0.0
    for bucket, number in latency.filled():
        low, high = bounds_ns(bucket)
        squares += number * ((low + high - 1) / 2 - mean) ** 2
    return sqrt(squares / latency.count)
