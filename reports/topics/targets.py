"""The section "Running services" of the experiment `targets`, which compares each running service with the first."""

from collections.abc import Sequence
from dataclasses import replace

from core.messages import Message, message
from core.runtime import NATIVE
from reports.document.model import ABSENT, Section, plain_table, traced
from reports.document.shapes import Col, col
from reports.document.values import hundredths, mib
from reports.facts.cells import STATES
from reports.facts.comparisons import Comparison
from reports.facts.contests import Contest, Standing, contests
from reports.facts.gates import GIL_AND_JIT
from reports.facts.pairs import addresses
from reports.facts.settings import about
from reports.statistics.stats import Estimate
from reports.topics import contest as shared
from reports.topics.costs import SERVICE_PSS
from reports.topics.headline import ratio_text
from reports.view import View

PLACE = 12
VIEW = "targets"
NOTE = message(
    "Requests/s are medians over the blocks (rounds of measurement). The throughput ratio to the first service is "
    "paired by block. Brackets hold a 95 % interval, and parentheses the range of fewer than 6 blocks. Verdicts are "
    "adjusted for the number of comparisons (docs/evidence.md). "
    "CPU time and memory of a service are measured if its processes run on this machine and gilscope may read them. A "
    "dash marks an unknown figure."
)


def section(view: View) -> Section:
    """Return the report's section that compares each running service with the first one."""
    first_measured = [
        row for row in view.rows if row.runtime == NATIVE
    ]  # rows of other runtimes are second measurements of a service
    first = view.rows[0].system if view.rows else ""  # rows are in the plan's order, measured or not
    ranked = contests(first_measured, {}, reference=[first])
    title, sentences = message("Running services"), _sentences(ranked, view)
    made = shared.contest_section(title, ranked, _columns(first), NOTE, sentences, view)
    where = message("Addresses of the services")
    table = plain_table(where, (message("arm"), message("address")), addresses(view.run).items())
    return replace(made, parts=(*made.parts, Section("addresses", where, tables=(table,))))


def _columns(first: str) -> list[Col[Standing]]:
    """Return the columns of the table of running services.

    first: the arm that throughput is compared with, if it has figures
    """

    def share(standing: Standing) -> Estimate | None:
        return standing.share if standing.base.system == first else None

    return [
        shared.name_col(message("arm")),
        shared.RATES,
        shared.number_col(message("throughput vs. first service"), share, hundredths),
        *shared.median_cols(p50_ns=4, p99_ns=3, client_cpu_ns_per_request=5, service_cpu_ns_per_request=6),
        shared.number_col(message("memory [MiB]"), lambda standing: SERVICE_PSS.of(standing.row.good), mib, rank=7),
        col("GIL", _gil, rank=8),
        shared.number_col(message("blocks"), lambda standing: str(len(standing.row.good)), str, rank=2),
    ]


def _gil(standing: Standing) -> Message | str:
    """Return the state of the service's GIL in all blocks, or a dash if the state is not known."""
    services = [service for cell in standing.row.good for service in cell.services]
    states = {service.get(key) for service in services for key in GIL_AND_JIT["GIL"]}
    if not states or None in states:
        return ABSENT
    if len(states) > 1:
        return message("GIL sometimes on")
    return message("on") if True in states else message("off")


def _sentences(ranked: Sequence[Contest], view: View) -> list[Message]:
    """Return sentences on services without results, then on each service's throughput ratio to the first service."""
    dead = [
        message(
            "The service {arm} has no measured results: {reason}.",
            arm=row.system,
            reason=row.trouble or STATES[row.state],
        )
        for row in view.rows
        if not row.figures
    ]
    measured = {row.system for row in view.rows if row.figures and row.runtime == NATIVE}
    compared = []
    for one in view.comparisons:
        if one.denominator in measured and (one.step == "aa" or one.numerator in measured):
            name = view.settings.short if one.is_over_all else view.settings.values
            compared.append(about(_comparison_sentence(one), name(one)))
    alone = [
        about(message("{name} serves {rate} requests/s.", **shared.named_rate(standing)), contest.label)
        for contest in ranked
        for standing in contest.standings
    ]
    return [*dead, *(compared or alone)]


def _comparison_sentence(comparison: Comparison) -> Message:
    arms = {"arm": comparison.numerator, "first": comparison.denominator}
    if comparison.ratio is None:
        return message("{arm} and {first} cannot be compared: {reason}.", **arms, reason=comparison.why)
    ratio = traced(ratio_text(comparison), comparison.trace, "ratio")
    serves = message("{arm} serves {ratio} the requests of {first}", **arms, ratio=ratio)
    if comparison.step == "aa":
        return message("{serves}. Both names stand for the same service, so the difference is noise.", serves=serves)
    if comparison.verdict == "inconclusive":
        return message("{serves}. The comparison is inconclusive: {why}.", serves=serves, why=comparison.why)
    return message("{serves}: {verdict}.", serves=serves, verdict=comparison.word)
