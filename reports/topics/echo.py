"""The experiment echo: echo servers of network libraries, as the seed's record has them, and who is fastest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.messages import SEMICOLON, Message, listed, message, verbatim
from reports.document.model import ABSENT, Column, Datum, Section, estimated, number, words
from reports.document.values import hundredths, microseconds, tenths, whole
from reports.facts.awake import KEEP_AWAKE, Awake, asleep_and_awake, fastest, overtaking, twin
from reports.facts.builds import service_version
from reports.facts.cells import Row
from reports.facts.curves import deviation_ns
from reports.facts.settings import about
from reports.facts.standings import Contest, Standing, contests, mean_latency_ns
from reports.facts.traces import of_rows
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "echo"
SHARES = ("25", "50", "75", "90", "99", "99.99")
SAMPLES_FOR_LAST = 100_000
DELAYED_ACK_NS = 35_000_000
# requests/s of three repeats at 1 000 B, then at 10 KiB and at 100 KiB; None where the seed's record has none
PUBLISHED: dict[str, tuple[float | None, ...]] = {
    "libuv": (58389.3, 57869.7, 59218.17, 52713.97, 15188.0),
    "libco": (56991.3, 58162.4, 55945.5, 51199.3, 79.37),
    "python3 + uvloop": (32772.8, 33032.6, 32670.2, 30764.97, 15002.7),
    "boost.asio": (47564.7, 47797.93, 47563.93, 75.1, 75.07),
    "Netty 1 thread": (49414.13, 40733.63, 47547.63, 45917.87, 13389.83),
    "Netty 2 thread": (47560.47, 46726.17, 47474.57, None, None),
}
FAULTS = message(
    "One core of a Xeon Gold 6148, one run of 30 s for each figure. The uvloop rows ran with one connection and the "
    "others with three, as requests/s x mean latency shows. Rows near 75 requests/s wait 40 ms for an acknowledgement "
    "(Nagle's algorithm); here TCP_NODELAY is on and every row says so."
)


def section(view: View) -> Section:
    """Who is first at each setting, rows that wait for an acknowledgement, each row in the seed's form."""
    title = message("Echo servers")
    if view.plan.view != VIEW:
        return Section(key=VIEW, title=title)
    asleep, awake = asleep_and_awake(view.rows)
    every, ranked = contests(view.rows, view.titles), contests(asleep, view.titles)
    sentences = (*map(_sentence, ranked), *_changes(ranked, awake), _delayed(every))
    table = shared.contest_table(ranked, _columns(view, awake))
    made = shared.contest_section(title, ranked, table, sentences, view, parts=(_blocks(every), _seeds()))
    return replace(made, answer=(), tables=(shared.standings(every),)) if awake else made


def _columns(view: View, awake: Awake) -> list[shared.Of[Standing]]:
    version = Column(head=message("version"), rank=9)
    share = Column(head=message("share of the fastest"), brief=message("of the fastest"), is_number=True)
    return [
        (Column(head=message("server")), shared.name),
        (version, lambda standing: words(service_version(view.run, standing.row))),
        shared.rate_column(),
        *([_awake_column(awake)] if awake else []),
        shared.figure_column(message("MiB/s"), _mib_per_s, tenths, rank=8),
        shared.figure_column(message("mean [us]"), lambda row: mean_latency_ns(row.good), microseconds, rank=6),
        shared.median_column("p99_ns", rank=5),
        shared.median_column("service_cpu_ns_per_request", rank=7),
        (share, lambda standing: estimated(standing.share, hundredths, of_rows([standing.row]))),
    ]


def _awake_column(awake: Awake) -> shared.Of[Standing]:
    """Requests/s of the same row with cores held awake; '-' where there is none."""
    column = Column(head=message("kept awake [requests/s]"), brief=message("awake"), is_number=True, rank=1)

    def show(standing: Standing) -> Datum:
        row = twin(standing.row, awake)
        rate = row.figures["requests_per_s"] if row and row.figures else None
        return number(rate, whole, of_rows([row]) if row else "", shared.RATE)

    return column, show


def _changes(ranked: Sequence[Contest], awake: Awake) -> list[Message]:
    """Of each setting who is first with cores held awake, and whom that lets overtake."""
    sentences = []
    for contest in ranked:
        names = {id(row): standing.name for standing in contest.standings if (row := twin(standing.row, awake))}
        first = fastest(twin(standing.row, awake) for standing in contest.standings)
        if first is None:
            continue
        changes = [
            message("{name} overtakes {others}", name=standing.name, others=listed([other.name for other in others]))
            for standing, others in overtaking(contest, awake)
        ]
        kept = message(
            "With idle cores held awake {first} is first with {rate} requests/s; {changes}.",
            first=names[id(first)],
            rate=shared.rate(first),
            changes=listed(changes, SEMICOLON) if changes else message("nobody overtakes another"),
        )
        sentences.append(about(kept, contest.label))
    return sentences


def _mib_per_s(row: Row) -> float:
    return (row.figures["requests_per_s"] if row.figures else 0.0) * _message_bytes(row) / 2**20


def _message_bytes(row: Row) -> int:
    size = row.params["MESSAGE_BYTES"]
    assert isinstance(size, int)
    return size


def _sentence(contest: Contest) -> Message:
    first, *others = contest.standings
    args: dict[str, Any] = {"first": first.name, "rate": shared.rate(first.row)}
    if not others:
        return about(message("{first} is first with {rate} requests/s.", **args), contest.label)
    clauses = [
        message("{name} {share}", name=other.name, share=shared.share_words(other.share, other.row)) for other in others
    ]
    ranked = message("{first} is first with {rate} requests/s; {others}.", **args, others=listed(clauses, SEMICOLON))
    return about(ranked, contest.label)


def _delayed(ranked: Sequence[Contest]) -> Message:
    """Rows of 40 ms, if there are any."""
    every = [(contest, standing) for contest in ranked for standing in contest.standings]
    slow = [
        about(standing.name, contest.label)
        for contest, standing in every
        if standing.row.latency.count and standing.row.latency.quantile(0.5) >= DELAYED_ACK_NS
    ]
    if slow:
        return message(
            "Half of the requests took 35 ms or more, as with Nagle against delayed ACK: {rows}.",
            rows=listed(slow, SEMICOLON),
        )
    if not every:
        return shared.NOTHING_MEASURED
    if all(standing.row.params["NODELAY"] for _, standing in every):
        return message(
            "No row waits 40 ms for an acknowledgement (Nagle against delayed ACK, as in the seed): TCP_NODELAY is on."
        )
    return message(
        "No row waits 40 ms for an acknowledgement (Nagle against delayed ACK, as in the seed), although TCP_NODELAY "
        "is off in some rows."
    )


def _blocks(ranked: Sequence[Contest]) -> Section:
    """Each row as the seed writes it."""
    measured = [standing for contest in ranked for standing in contest.standings if standing.row.latency.count]
    texts = tuple(verbatim(block(standing)) for standing in measured)
    note = message("All blocks together. Requests/sec x mean latency is the number of requests under way at once.")
    return Section(
        key="seed-form",
        title=message("Each row in the seed's form"),
        sentences=(note,) if texts else (),
        texts=texts,
        folded=True,
    )


def block(standing: Standing) -> str:
    """One row in the seed's form, which is the same in every language."""
    row, latency, size = standing.row, standing.row.latency, _message_bytes(standing.row)
    seconds = sum(cell.wall_ns for cell in row.good) / 1e9
    mean_ms, spread_ms = latency.total_ns / latency.count / 1e6, deviation_ns(latency) / 1e6
    shares = [share for share in SHARES if share != SHARES[-1] or latency.count >= SAMPLES_FOR_LAST]
    below = "; ".join(f"{share}% under {latency.quantile(float(share) / 100) / 1e6:.3f}ms" for share in shares)
    buffers = row.params["BUFFER_BYTES"] or "as the kernel has them"
    awake = ", idle cores held awake" if row.params.get(KEEP_AWAKE) else ""
    return (
        f"{standing.name}, connections: {row.params['NUM_CONNECTIONS_PER_CLIENT']}, runtime: {row.runtime}{awake}\n"
        f"{latency.count} {size / 1024:.2f}KiB messages in {seconds:.0f} seconds ({len(row.good)} blocks)\n"
        f"Latency: min {latency.min_ns / 1e6:.3f}ms; max {latency.max_ns / 1e6:.3f}ms; mean {mean_ms:.3f}ms; "
        f"std: {spread_ms:.3f}ms ({spread_ms / mean_ms:.2%})\n"
        f"Latency distribution: {below}\n"
        f"Requests/sec: {standing.requests_per_s:.2f}\n"
        f"Transfer/sec: {_mib_per_s(row):.2f}MiB\n"
        f"Requests/sec x mean latency: {standing.requests_per_s * mean_ms / 1e3:.2f}; "
        f"TCP_NODELAY {'on' if row.params['NODELAY'] else 'off'}; buffers {buffers}"
    )


def _seeds() -> Section:
    """Requests/s as published, and what was wrong."""
    title = message("The seed's own figures: another machine's")
    lines = [[name, *(whole(rate) if rate else ABSENT for rate in rates)] for name, rates in PUBLISHED.items()]
    heads = (message("server"), *(verbatim(size) for size in ("1000 B", "1000 B", "1000 B", "10 KiB", "100 KiB")))
    table = shared.published(title, heads, lines, range(1, 6))
    return Section(key="seed-figures", title=title, tables=(table,), notes=(FAULTS,))
