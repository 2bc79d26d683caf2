"""The experiment targets: services that already run, each beside the first one, paired by block."""

from collections.abc import Sequence
from dataclasses import replace

from core.messages import Message, message, verbatim
from core.runtime import NATIVE
from reports.document.model import ABSENT, Column, Datum, Section, bounds, estimated, plain_table, traced, words
from reports.document.values import hundredths, mib
from reports.facts.arms import addresses
from reports.facts.comparisons import Comparison
from reports.facts.costs import SERVICE_PSS
from reports.facts.pairs import OVER_ALL
from reports.facts.series import about
from reports.facts.standings import Contest, Standing, contests
from reports.facts.summary import STATES, Row
from reports.facts.traces import of_rows
from reports.statistics.evidence import WORDS
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "targets"
HOW = message(
    "Requests/s are medians over the blocks. Shares are of the first arm's, paired by block, with their 95 % interval; "
    "a verdict takes the p of all comparisons together into account (docs/evidence.md). The processes of a running "
    "service are measured where they are on this machine and may be read; a dash is what is not known of them."
)


def section(view: View) -> Section:
    """What the arms serve, beside the first; what could not be measured."""
    title = message("Running services")
    if view.plan.view != VIEW:
        return Section(key=VIEW, title=title)
    ranked = duels(view.rows)
    table = shared.contest_table(ranked, _columns(), HOW)
    return shared.contest_section(title, ranked, table, _sentences(ranked, view), view, parts=(_where(view),))


def _where(view: View) -> Section:
    title = message("Where they run")
    table = plain_table(title, (message("arm"), message("address")), addresses(view.run).items())
    return Section(key="addresses", title=title, tables=(table,))


def duels(rows: Sequence[Row]) -> list[Contest]:
    """A contest for each setting, those that took part again aside. Shares are of the first arm's, or there are none.

    The first arm is that of the first row: rows are in the plan's order, whether they were measured or not.
    """
    first = rows[0].system if rows else ""
    own = [row for row in rows if row.runtime == NATIVE]
    return [_without_strangers(contest, first) for contest in contests(own, {}, reference=first)]


def _without_strangers(contest: Contest, first: str) -> Contest:
    """The contest without shares where the first arm has no figures: the fastest does not stand in for it."""
    if contest.reference.row.system == first:
        return contest
    return replace(contest, standings=tuple(replace(standing, share=None) for standing in contest.standings))


def _columns() -> list[shared.Of[Standing]]:
    share = Column(head=message("of the first's"), is_number=True)
    return [
        (Column(head=message("arm")), shared.name),
        shared.rate_column(),
        (share, lambda standing: estimated(standing.share, hundredths, of_rows([standing.row]))),
        shared.median_column("p50_ns", rank=4),
        shared.median_column("p99_ns", rank=3),
        shared.median_column("client_cpu_ns_per_request", rank=5),
        shared.median_column("service_cpu_ns_per_request", rank=6),
        shared.figure_column(message("memory [MiB]"), _memory_bytes, mib, rank=7),
        (Column(head=message("GIL"), rank=8), lambda standing: words(_gil(standing.row))),
        (Column(head=message("blocks"), is_number=True, rank=2), _blocks),
    ]


def _memory_bytes(row: Row) -> float | None:
    return SERVICE_PSS.of(row.good)


def _blocks(standing: Standing) -> Datum:
    return words(str(len(standing.row.good)), cells=of_rows([standing.row]))


def _gil(row: Row) -> Message:
    """Whether the GIL of the service was on, in every block and at both ends; a dash where that is not known."""
    services = [service for cell in row.good for service in cell.services]
    if not services or not all(service.get("gil_known") for service in services):
        return verbatim(ABSENT)
    states = {service[key] for service in services for key in ("gil_enabled_ready", "gil_enabled_end")}
    if len(states) > 1:
        return message("changed")
    return message("on") if True in states else message("off")


def _sentences(ranked: Sequence[Contest], view: View) -> list[Message]:
    """What each arm serves of what the first does, with the verdict; and each that has no figures, with the reason."""
    dead = [
        message("{arm} has no figures ({reason}).", arm=row.system, reason=row.trouble or STATES[row.state])
        for row in view.rows
        if not row.figures
    ]
    measured = {row.system for row in view.rows if row.figures and row.runtime == NATIVE}
    compared = [
        about(_compared(comparison, view), _setting(comparison, view))
        for comparison in view.comparisons
        if comparison.denominator in measured and (comparison.step == "aa" or comparison.numerator in measured)
    ]
    return [*dead, *(compared or _alone(ranked))]


def _setting(comparison: Comparison, view: View) -> Message:
    """'NUM_CLIENTS 2', where there are several settings."""
    if comparison.system == OVER_ALL:
        return view.settings.short(OVER_ALL, {})
    return verbatim(view.settings.values(comparison.system, comparison.params))


def _alone(ranked: Sequence[Contest]) -> list[Message]:
    """What an arm serves that has none beside it."""
    return [
        about(
            message("{name} serves {rate} requests/s.", name=standing.name, rate=shared.rate(standing.row)),
            contest.label,
        )
        for contest in ranked
        for standing in contest.standings
    ]


def _compared(comparison: Comparison, view: View) -> Message:
    arms = {"arm": comparison.numerator, "first": comparison.denominator}
    if comparison.ratio is None:
        return message("{arm} and {first} are not compared ({reason}).", **arms, reason=comparison.why)
    serves = message(
        "{arm} serves {ratio} what {first} does",
        **arms,
        ratio=traced(_times(comparison), view.traces.of(comparison), "ratio"),
    )
    if comparison.step == "aa":
        return message("{serves}: the same service twice, so that is noise.", serves=serves)
    if comparison.verdict == "inconclusive":
        return message("{serves}, which is inconclusive: {why}.", serves=serves, why=comparison.why)
    return message("{serves}: {verdict}.", serves=serves, verdict=WORDS[comparison.verdict])


def _times(comparison: Comparison) -> Message:
    """'1.12 x [1.10, 1.14]'."""
    ratio = message("{ratio} x", ratio=hundredths(comparison.ratio or 0.0))
    if comparison.low is None or comparison.high is None:
        return ratio
    return message(
        "{ratio} {bounds}",
        ratio=ratio,
        bounds=bounds(comparison.low, comparison.high, hundredths, is_range=comparison.is_range),
    )
