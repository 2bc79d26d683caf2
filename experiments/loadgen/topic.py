"""The report's section for the experiment loadgen: gilscope's load generator compared with others."""

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from core.messages import NOTHING, SEMICOLON, Message, listed, message
from reports.document.model import Section
from reports.document.shapes import CellValue, Col, col
from reports.document.values import hundredths, microseconds, whole
from reports.facts.builds import client_version
from reports.facts.cells import Row, of_rows
from reports.facts.contests import Contest, Standing, contests, rate_share
from reports.facts.figures import cpu_ns, per_request
from reports.statistics.stats import Estimate, paired_ratio
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "loadgen"
OWN, AB = "load-own", "load-ab"
ROUNDED_TO_NOTHING_US = {AB: 500, "load-hey": 50}  # ab prints whole ms, hey four decimals of a second
KEPT, FRESH = message("Kept connections"), message("New connection per request")
SEED = message(
    "The published experiment that gilscope repeats compared gurl with kept connections to ab without `-k`, which "
    "opens a connection for every request. It measured 129,741 requests/s for gurl and 30,030 for ab: 4.3x. In "
    "gilscope's results, the column keep-alive says whether connections are kept."
)
HOW = message(
    "Requests/s and CPU time are medians over the blocks. Ratios compare gilscope's generator with another one, paired "
    "by block, with 95 % intervals, so they may differ from the ratio of the medians. Each generator reports its own "
    "requests/s. CPU time is from the operating system, for the whole process. Percentiles of gilscope's generator are "
    "of all blocks together. For other generators, a percentile is the median over the blocks of the value that the "
    "generator printed (ab prints whole ms). wrk accepts a duration, but no number of requests. gilscope computes the "
    "duration from wrk's rate in the warm-up."
)


def section(view: View) -> Section:
    """Return the section: rankings of the generators, with kept connections and with new connections."""
    rows = sorted(view.rows, key=_is_kept, reverse=True)
    ranked = contests(rows, view.titles, reference=[OWN], kind=lambda row: KEPT if _is_kept(row) else FRESH)
    sentences = shared.label_sentences(ranked, _sentence)
    measured = {(row.system, _is_kept(row)): row for row in reversed(rows) if row.figures}
    own, ab = measured.get((OWN, True)), measured.get((AB, False))
    if own and ab:  # the comparison of the seed
        share = shared.share_words(rate_share(own, ab), ab)
        sentences.append(
            message(
                "gilscope's load generator with keep-alive sends {share} times the requests/s of ab without "
                "keep-alive. A published experiment compared the load generators gurl and ab in this way.",
                share=share,
            )
        )
    seed = Section(
        key="seed-figures",
        title=message("Figures of the published experiment that gilscope repeats, from another machine"),
        sentences=(SEED,),
    )
    made = shared.contest_section(message("Load generators"), ranked, _columns(), HOW, sentences, view)
    return replace(made, parts=(*made.parts, seed))


def _is_kept(row: Row) -> bool:
    return bool(row.params.get("KEEP_ALIVE"))


def _columns() -> list[Col[Standing]]:
    yes, no = message("yes"), message("no")
    return [
        shared.name_col(message("load generator")),
        col("version", lambda standing: client_version(standing.row), rank=9),
        col("keep-alive", lambda standing: yes if _is_kept(standing.row) else no, rank=8),
        shared.number_col(message("requests"), lambda standing: standing.row.good[0].answered, whole, rank=7),
        shared.RATES,
        *shared.median_cols(client_cpu_ns_per_request=2),
        _ours_over(
            message("requests/s: gilscope's generator / this load generator"),
            rate_share,
            brief=message("requests/s ratio"),
        ),
        _ours_over(
            message("CPU time: gilscope's generator / this load generator"),
            _client_cpu_share,
            brief=message("CPU time ratio"),
            rank=3,
        ),
        _percentile_col("p50", rank=6),
        _percentile_col("p99", rank=5),
    ]


def _ours_over(head: Message, share: Callable[[Row, Row], Estimate | None], **more: Any) -> Col[Standing]:
    """Return a column that divides a figure of gilscope's load generator by the same figure of another one.

    The column is empty if gilscope's load generator was not measured.
    """
    return col(
        head,
        lambda standing: share(standing.base, standing.row) if standing.base.system == OWN else None,
        hundredths,
        trace=lambda standing: of_rows([standing.base, standing.row]),
        **more,
    )


def _client_cpu_share(row: Row, base: Row) -> Estimate | None:
    """Return the client CPU time per request of *row* divided by that of *base*, paired by block."""
    spent_ns, base_ns = (
        {cell.block: spent for cell in one.good if (spent := per_request(cpu_ns(cell.clients), cell))}
        for one in (row, base)
    )
    return paired_ratio(spent_ns, base_ns)


def _percentile_col(key: str, rank: int) -> Col[Standing]:
    """Return the table column of a latency percentile.

    For gilscope's generator, the percentile is of all blocks together. For others, it is the median over the blocks of
    the printed value.
    """

    def read(standing: Standing) -> CellValue:
        row = standing.row
        if row.latency.count:
            return row.latency.quantile(int(key.removeprefix("p")) / 100)
        said = [client.get("said", {}).get("percentiles_ms", {}) for cell in row.good for client in cell.clients]
        printed_ms = [one[key] for one in said if one.get(key) is not None]
        if not printed_ms:
            return None
        if median(printed_ms) == 0 and row.system in ROUNDED_TO_NOTHING_US:
            return f"<{ROUNDED_TO_NOTHING_US[row.system]}"
        return median(printed_ms) * 1e6

    head, _ = shared.MEDIANS[f"{key}_ns"]
    return col(head, read, microseconds, trace="trace", rank=rank)


def _sentence(contest: Contest) -> Message:
    own = contest.reference
    times = [
        message(
            "{share} times the requests/s of {name}",
            share=shared.share_words(rate_share(own.row, other.row), other.row),
            name=other.name,
        )
        for other in contest.standings
        if other is not own
    ]
    if not times:
        return NOTHING
    return message("{name} sends {rate} requests/s: {times}.", **shared.named_rate(own), times=listed(times, SEMICOLON))
