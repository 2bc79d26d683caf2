"""The experiment loadgen: each load generator against the same server, and ours against each."""

from collections.abc import Callable, Sequence
from statistics import median

from core.messages import SEMICOLON, Message, listed, message
from reports.document.model import Column, Datum, Section, estimated, number, words
from reports.document.values import hundredths, microseconds, whole
from reports.facts.builds import client_version
from reports.facts.cells import Row
from reports.facts.settings import about
from reports.facts.standings import Contest, Standing, client_cpu_share, contests, rate_share
from reports.facts.traces import of_rows, together
from reports.statistics.stats import Estimate
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "loadgen"
OWN, AB = "load-own", "load-ab"
ROUNDED_TO_NOTHING_US = {AB: 500, "load-hey": 50}  # ab prints whole ms, hey four decimals of a second
Share = Callable[[Row, Row], Estimate | None]
KEPT, FRESH = message("Connections are kept"), message("A connection for each request")
SEED = message(
    "The seed ran gurl against ab without `-k`: a connection for every request on one side, kept connections on the "
    "other. It found 129,741 requests/s for gurl and 30,030 for ab, 4.3 times. Here keep-alive stands in every row."
)
HOW = message(
    "Requests/s and CPU time are medians over the blocks. Ours over its, here and in the sentences, is paired "
    "by block, with its 95 % interval; the ratio of the two medians may differ. Each "
    "generator reports its own requests/s; CPU time is the operating system's, for the whole process. Our percentiles "
    "are of all blocks together; the others' are the median over the blocks of what they print (ab in whole ms). wrk "
    "takes no number of requests: it runs for as long as its warm-up showed it needs."
)


def section(view: View) -> Section:
    """The generators with keep-alive, and those without, each against ours."""
    title = message("Load generators")
    if view.plan.view != VIEW:
        return Section(key=VIEW, title=title)
    ranked = keep_alive_contests(view)
    sentences = [_sentence(contest) for contest in ranked if len(contest.standings) > 1]
    seed = Section(key="seed-figures", title=message("The seed's own figures: another machine's"), sentences=(SEED,))
    table = shared.contest_table(ranked, _columns(), HOW)
    return shared.contest_section(title, ranked, table, [*sentences, *_as_the_seed(ranked)], view, (seed,))


def keep_alive_contests(view: View) -> list[Contest]:
    """Those whose connections are kept, then those with a connection for each request."""
    return [
        contest
        for keeps, label in ((True, KEPT), (False, FRESH))
        for contest in contests(
            [row for row in view.rows if row.params.get("KEEP_ALIVE") is keeps],
            view.titles,
            reference=OWN,
            about=label,
        )
    ]


def _columns() -> list[shared.Of[Standing]]:
    return [
        (Column(head=message("generator")), shared.name),
        (Column(head=message("version"), rank=9), lambda standing: words(client_version(standing.row))),
        (Column(head=message("keep-alive"), rank=8), _keeps),
        shared.figure_column(message("requests"), lambda row: row.good[0].answered, whole, rank=7),
        shared.rate_column(),
        shared.median_column("client_cpu_ns_per_request", rank=2),
        _ours_over(message("our requests/s over its"), message("ours over its"), rate_share),
        _ours_over(message("our CPU over its"), message("our CPU over its"), client_cpu_share, rank=3),
        _percentile("p50", message("p50 [us]"), rank=6),
        _percentile("p99", message("p99 [us]"), rank=5),
    ]


def _keeps(standing: Standing) -> Datum:
    return words(message("yes") if standing.row.params["KEEP_ALIVE"] else message("no"))


def _ours_over(head: Message, brief: Message, share: Share, rank: int = 0) -> shared.Of[Standing]:
    """How many times ours is; nothing where ours was not measured."""

    def datum(standing: Standing) -> Datum:
        row, own = standing.row, standing.base
        times = share(own, row) if own.system == OWN else None
        return estimated(times, hundredths, together([of_rows([own]), of_rows([row])]))

    return Column(head=head, brief=brief, is_number=True, rank=rank), datum


def _percentile(key: str, head: Message, rank: int) -> shared.Of[Standing]:
    """Ours of all blocks together, of another generator the median over the blocks of what it printed."""
    quantile = int(key.removeprefix("p")) / 100

    def datum(standing: Standing) -> Datum:
        row = standing.row
        if row.latency.count:
            return number(row.latency.quantile(quantile), microseconds, of_rows([row]))
        printed_ms = _printed_ms(row, key)
        if printed_ms == 0 and row.system in ROUNDED_TO_NOTHING_US:
            return words(f"<{ROUNDED_TO_NOTHING_US[row.system]}", cells=of_rows([row]))
        return number(None if printed_ms is None else printed_ms * 1e6, microseconds, of_rows([row]))

    return Column(head=head, is_number=True, rank=rank), datum


def _printed_ms(row: Row, key: str) -> float | None:
    printed = [
        client.get("said", {}).get("percentiles_ms", {}).get(key) for cell in row.good for client in cell.clients
    ]
    known = [value for value in printed if value is not None]
    return median(known) if known else None


def _sentence(contest: Contest) -> Message:
    own = contest.reference
    times = [
        message("{share} x {name}", share=_times(own.row, other.row), name=other.name)
        for other in contest.standings
        if other is not own
    ]
    sentence = message(
        "{name} sends {rate} requests/s: {times}.",
        name=own.name,
        rate=shared.rate(own.row),
        times=listed(times, SEMICOLON),
    )
    return about(sentence, contest.label)


def _times(own: Row, row: Row) -> Message:
    return shared.share_words(rate_share(own, row), row)


def _as_the_seed(ranked: Sequence[Contest]) -> list[Message]:
    """What the seed compared: ours with keep-alive against ab without."""
    rows = [standing.row for contest in ranked for standing in contest.standings]
    own = [row for row in rows if row.system == OWN and row.params["KEEP_ALIVE"]]
    ab = [row for row in rows if row.system == AB and not row.params["KEEP_ALIVE"]]
    if not own or not ab:
        return []
    share = _times(own[0], ab[0])
    return [message("As the seed compared, ours with keep-alive against ab without: {share} x.", share=share)]
