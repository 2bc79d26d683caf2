"""The report's section for the experiment echo: a ranking of echo servers, with the original experiment's figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from reports.document.model import Datum, Section, number
from reports.document.shapes import Col, col
from reports.document.values import hundredths, microseconds, tenths, whole
from reports.facts.builds import service_version
from reports.facts.cells import Row, setting_key
from reports.facts.cells import number as parameter
from reports.facts.contests import Contest, Standing, contests, rate, rate_share
from reports.facts.settings import about
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "echo"
KEEP_AWAKE = "KEEP_AWAKE"
SHARES = ("25", "50", "75", "90", "99", "99.99")
SAMPLES_FOR_LAST = 100_000
DELAYED_ACK_NS = 35_000_000
# requests/s, rounded, of three repeats at 1 000 B, then at 10 KiB and at 100 KiB; '-' where the seed's record has none
PUBLISHED = """
server            1000 B  1000 B  1000 B  10 KiB  100 KiB
libuv             58,389  57,870  59,218  52,714  15,188
libco             56,991  58,162  55,946  51,199  79
python3 + uvloop  32,773  33,033  32,670  30,765  15,003
boost.asio        47,565  47,798  47,564  75      75
Netty 1 thread    49,414  40,734  47,548  45,918  13,390
Netty 2 thread    47,560  46,726  47,475  -       -
"""
FAULTS = message(
    "These figures are from one core of a Xeon Gold 6148, with one run of 30 s each. The published requests/s x mean "
    "latency gives the number of connections: one for uvloop, and three for the other servers. Some servers have only "
    "about 75 requests/s, because each of their requests waited 40 ms for an acknowledgement (Nagle's algorithm). "
    "gilscope measures with TCP_NODELAY on by default, and shows this setting with every result."
)


def section(view: View) -> Section:
    """Return the report section: the fastest server per setting, results slowed by delayed ACKs, and all results."""
    asleep = [row for row in view.rows if not row.params.get(KEEP_AWAKE)]
    held = {_key(row): row for row in view.rows if row.params.get(KEEP_AWAKE)}
    awake = {id(row): held[_key(row)] for row in asleep if _key(row) in held}
    every, ranked = contests(view.rows, view.titles), contests(asleep or view.rows, view.titles)
    overtaken = partial(_overtaking, awake=awake)
    sentences = [
        *shared.label_sentences(ranked, _sentence),
        *shared.label_sentences(ranked, overtaken),
        _delayed(every),
    ]
    columns = _columns(view, awake)
    made = shared.contest_section(message("Echo servers"), ranked, columns, NOTHING, sentences, view)
    made = replace(made, parts=(*made.parts, _blocks(every), _seeds()))
    return replace(made, answer=(), tables=(shared.podiums(every),)) if awake else made


def _key(row: Row) -> tuple[str, str, str]:
    """Return a key that is equal for two results that differ only in KEEP_AWAKE."""
    return row.runtime, *setting_key(row.system, {**row.params, KEEP_AWAKE: None})


def _columns(view: View, awake: Mapping[int, Row]) -> list[Col[Standing]]:
    """Return the columns of the ranking. Requests/s measured with KEEP_AWAKE, if any, have a column of their own."""

    def kept(standing: Standing) -> Datum | None:
        row = awake.get(id(standing.row))
        return number(rate(row) or None, whole, row.trace, shared.RATE) if row else None

    def mean_ns(standing: Standing) -> float | None:
        return shared.mean_ns(cell.latency for cell in standing.row.good)

    kept_col = col("requests/s (cores awake)", kept, whole, brief=message("cores awake"), rank=1)
    share, brief = message("ratio to the fastest"), message("vs fastest")
    return [
        shared.name_col(message("server")),
        col("version", lambda standing: service_version(view.run, standing.row), rank=9),
        shared.RATES,
        *([kept_col] if awake else []),
        shared.number_col(message("MiB/s"), _mib_per_s, tenths, rank=8),
        shared.number_col(message("mean [us]"), mean_ns, microseconds, rank=6),
        *shared.median_cols(p99_ns=5, service_cpu_ns_per_request=7),
        shared.number_col(share, attrgetter("share"), hundredths, brief=brief),
    ]


def _mib_per_s(standing: Standing) -> float:
    return standing.rate * parameter(standing.row.good[0], "MESSAGE_BYTES") / 2**20


def _sentence(contest: Contest) -> Message:
    first, *others = contest.standings
    if not others:
        return shared.answer(contest)
    shares = [
        message("{name} {share}", name=other.name, share=shared.share_words(other.share, other.row)) for other in others
    ]
    return message(
        "{first} is the fastest with {rate} requests/s. Ratios of the other servers to the fastest server: {others}.",
        first=first.name,
        rate=shared.rate_words(first.row),
        others=listed(shares, SEMICOLON),
    )


def _overtaking(contest: Contest, awake: Mapping[int, Row]) -> Message:
    """Return a sentence on the fastest server while idle cores stay awake, or NOTHING without such measurements."""
    held = [(standing, row) for standing in contest.standings if (row := awake.get(id(standing.row))) and row.figures]
    if not held:
        return NOTHING
    changes = []
    for standing, row in held:
        passed = [other.name for other, twin in held if _is_faster(other.row, standing.row) and _is_faster(row, twin)]
        if passed:
            changes.append(message("{name} becomes faster than {others}", name=standing.name, others=listed(passed)))
    first, most = max(held, key=lambda pair: rate(pair[1]))
    return message(
        "If idle cores do not sleep, {first} is the fastest with {rate} requests/s; {changes}.",
        first=first.name,
        rate=shared.rate_words(most),
        changes=listed(changes, SEMICOLON)
        if changes
        else message("keeping idle cores awake does not change the order of the servers by requests/s"),
    )


def _is_faster(row: Row, base: Row) -> bool:
    """Return whether *row* has more requests/s than *base*: the whole confidence interval of the ratio is above 1."""
    share = rate_share(row, base)
    return share is not None and share.low > 1


def _delayed(ranked: Sequence[Contest]) -> Message:
    """Return a sentence that names the servers slowed by delayed ACKs, or says that there are none.

    A delayed ACK takes 40 ms. A server counts as slowed if its median latency is at least DELAYED_ACK_NS.
    """
    every = [(contest, standing) for contest in ranked for standing in contest.standings]
    slow = [
        about(standing.name, contest.label)
        for contest, standing in every
        if standing.row.latency.count and standing.row.latency.quantile(0.5) >= DELAYED_ACK_NS
    ]
    if slow:
        return message(
            "In these measurements, half of the requests took 35 ms or more, as is typical of Nagle's algorithm with "
            "delayed ACK: {rows}.",
            rows=listed(slow, SEMICOLON),
        )
    if not every:
        return shared.NOTHING_MEASURED
    if all(standing.row.params["NODELAY"] for _, standing in every):
        return message(
            "TCP_NODELAY is on, and no server waits 40 ms for an acknowledgement. In the published experiment that "
            "gilscope repeats, some servers waited that long."
        )
    return message(
        "TCP_NODELAY is off in some measurements. Even there, no server waits 40 ms for an acknowledgement. In the "
        "published experiment that gilscope repeats, some servers waited that long."
    )


def _blocks(ranked: Sequence[Contest]) -> Section:
    """Return a report section with all figures of each result as plain text.

    The text has the format of the record of the published experiment that this experiment repeats.
    """
    measured = [standing for contest in ranked for standing in contest.standings if standing.row.latency.count]
    note = message(
        "Each figure covers all blocks together. Requests/sec x mean latency is the mean number of requests in flight."
    )
    return Section(
        key="seed-form",
        title=message("All figures of each result as plain text"),
        sentences=(note,) if measured else (),
        texts=tuple(verbatim(_block(standing)) for standing in measured),
        folded=True,
    )


def _block(standing: Standing) -> str:
    """Return all figures of one result as plain text, which is not translated.

    The text has the format of the record of the published experiment that this experiment repeats.
    """
    row, latency, size = standing.row, standing.row.latency, parameter(standing.row.good[0], "MESSAGE_BYTES")
    seconds = sum(cell.wall_ns for cell in row.good) / 1e9
    mean_ms, spread_ms = latency.total_ns / latency.count / 1e6, latency.deviation_ns / 1e6
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
        f"Requests/sec: {standing.rate:.2f}\n"
        f"Transfer/sec: {_mib_per_s(standing):.2f}MiB\n"
        f"Requests/sec x mean latency: {standing.rate * mean_ms / 1e3:.2f}; "
        f"TCP_NODELAY {'on' if row.params['NODELAY'] else 'off'}; buffers {buffers}"
    )


def _seeds() -> Section:
    """Return a report section with the requests/s of the published experiment that gilscope repeats, and a note."""
    title = message("Figures of the published experiment that gilscope repeats, from another machine")
    return Section(key="seed-figures", title=title, tables=(shared.published(title, PUBLISHED),), notes=(FAULTS,))
