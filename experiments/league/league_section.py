"""The report's section for the experiment league: gilscope's systems and other servers, ranked for
each runtime.

reports/sections/__init__.py finds this module by its name, and calls section() for each report of
such a plan. What it shows comes from the View and from analysis/. Only the orchestrator imports it.
"""

from collections.abc import Iterator, Mapping, Sequence

from analysis.cell_index import request_ns
from analysis.formats import hundredths, whole
from analysis.metrics import THROUGHPUT
from analysis.pair_verdicts import looks_at
from analysis.settings import about
from analysis.significance import ALPHA, SHARES, Looks, holm
from analysis.stats import log_ratios
from core.messages import NOTHING, Message, listed, message, plural
from reports.document import Section, estimate, traced
from reports.parts import contest as shared
from reports.view import View

PLACE = 12  # in the order of sections (reports/sections/__init__.py)
VIEW = "league"  # the plan that has this section, by its key `view`
OURS = ("2", "4")  # the systems to the faster of which ratios refer
HOW = message(
    "Requests/s are medians over the blocks. Ratios are paired by block, with 95 % intervals. A "
    "server outside of gilscope counts as faster if the interval of its ratio is above 1 and its "
    "p-value is at most {alpha}. The p-values are adjusted because many servers and runtimes are "
    "compared (docs/statistics.md). CPU time and memory include every process of a service. A "
    "server with another protocol needs another client, so the table also has the CPU time of the "
    "clients.",
    alpha=ALPHA,
)


RANKING = shared.Ranking(
    title=message("Ranking of servers"),
    name=message("system"),
    # a metric (analysis/metrics.py) and its rank: if the table is too wide, the highest goes first
    columns=[
        ("requests_per_s", 0),
        shared.ratio_col(
            message("ratio to the faster of systems 2 and 4"), message("vs gilscope"), OURS
        ),
        ("p50_ns", 6),
        ("p99_ns", 3),
        ("service_cpu_ns_per_request", 2),
        ("client_cpu_ns_per_request", 8),
        ("service_memory_bytes", 7),
    ],
    caption=HOW,
)


def section(view: View) -> Section:
    """Return a report section that ranks all servers per runtime, and names those faster than
    gilscope's systems.
    """
    ranked = shared.contests(
        view.rows,
        view.titles,
        reference=OURS,
        kind=lambda row: message("runtime {runtime}", runtime=row.runtime),
    )
    rivals = [rival for contest in ranked for rival in contest.standings if _is_rival(rival)]
    looks = looks_at(view.run)
    p_values = _adjusted(rivals, looks)
    sentences = [
        *(about(text, one.label) for one in ranked if (text := _sentence(one, p_values))),
        *_too_few(rivals, looks),
    ]
    return shared.ranking_section(RANKING, ranked, view, sentences)


def _is_rival(standing: shared.Standing) -> bool:
    """Return whether a server outside of gilscope was measured in the same blocks as gilscope's
    system 2 or 4.
    """
    return (
        standing.base.system in OURS
        and standing.row.system not in OURS
        and standing.share is not None
    )


def _adjusted(rivals: Sequence[shared.Standing], looks: Looks) -> Mapping[int, float]:
    """Return the two-sided p-value of each rival by id(row). All rivals are one family for Holm's
    adjustment.
    """
    ratios = [
        log_ratios(request_ns(rival.base.good), request_ns(rival.row.good)) for rival in rivals
    ]
    adjusted = holm([looks.p(by_block) for by_block in ratios], SHARES["league"])
    return {id(rival.row): p for rival, p in zip(rivals, adjusted, strict=True)}


def _sentence(contest: shared.Contest, p_values: Mapping[int, float]) -> Message:
    """Return a sentence that names the servers that are faster than gilscope's systems; NOTHING
    without the systems.
    """
    best = contest.reference
    if best.row.system not in OURS:
        return NOTHING
    faster = [
        message(
            "{name} ({share})",
            name=other.name,
            share=traced(estimate(other.share, hundredths), other.trace),
        )
        for other in contest.standings
        if other.share and other.share.low > 1 and p_values.get(id(other.row), 1.0) <= ALPHA
    ]
    most = message(
        "{name} serves {rate} requests/s, the highest rate among gilscope's systems",
        name=best.name,
        rate=traced(whole(shared.rate(best.row)), best.trace, THROUGHPUT.key),
    )
    others = message("no server outside of gilscope is significantly faster")
    if faster:
        others = message("faster servers outside of gilscope: {names}", names=listed(faster))
    return message("{most}; {others}.", most=most, others=others)


def _too_few(rivals: Sequence[shared.Standing], looks: Looks) -> Iterator[Message]:
    """Yield a warning if too few blocks were measured to show that a server is faster than
    gilscope's systems.
    """
    blocks = max((rival.share.count for rival in rivals if rival.share), default=0)
    enough = looks.fewest(len(rivals) / SHARES["league"])
    if rivals and blocks < enough:
        yield plural(
            "{count} block of measurements is too few to show that any of {rivals} other servers "
            "is faster than gilscope's. Use --blocks {enough}.",
            "{count} blocks of measurements are too few to show that any of {rivals} other servers "
            "is faster than gilscope's. Use --blocks {enough}.",
            count=blocks,
            rivals=len(rivals),
            enough=enough,
        )
