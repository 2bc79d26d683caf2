"""The record of services that already run: each arm beside the first one, paired by block. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.result import Run
from core.runtime import NATIVE
from reports.findings.memory import MIB
from reports.rows.arms import addresses, arm_settings
from reports.rows.arrangement import value_text
from reports.rows.columns import microseconds
from reports.rows.comparisons import Comparison, compare
from reports.rows.costs import median_costs
from reports.rows.standings import Contest, Short, Standing, contests, share_text
from reports.rows.summary import Row
from reports.words.markdown import escaped, markdown_table
from reports.words.notes import troubles

HEADS = (
    "arm",
    "requests/s",
    "of the first's",
    "p50 [us]",
    "p99 [us]",
    "client CPU [us/request]",
    "service CPU [us/request]",
    "memory [MiB]",
    "GIL",
    "blocks",
)
ON_TERMINALS = (*HEADS[:6], HEADS[-1])  # where there is no room for more; the page has all
HOW = (
    "Requests/s are medians over the blocks; shares are of the first arm's that is named above, paired by block, with "
    "their 95 % interval; a verdict takes the p of all comparisons together into account (docs/evidence.md). "
    "The processes of a service that already ran are known where they are on this machine and may be looked at; a "
    "dash is what is not known of them."
)


def targets_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: what the arms serve, beside the first; what could not be measured."""
    where = [f"- {name}: {escaped(url)}" for name, url in addresses(run).items()]
    lines = dict.fromkeys([*sentences(run, rows, titles), *troubles(run, rows)])
    parts = [f"# {run.plan['name']}: {run.run_id}", "\n".join(where), *lines]
    for contest in duels(rows):
        table = markdown_table(HEADS, [figures(one) for one in contest.standings], {*HEADS[1:]})
        parts += [*([f"## {contest.label}"] if contest.label else []), table]
    return "\n\n".join([*parts, HOW]) + "\n"


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
    return replace(contest, standings=tuple(replace(one, share=None) for one in contest.standings))


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """What each arm serves of what the first does, with the verdict; and each that has no figures, with the reason."""
    dead = [
        f"{row.system} has no figures: {(row.trouble or row.state).rstrip('.')}." for row in rows if not row.figures
    ]
    names = {row.system for row in rows if row.figures and row.runtime == NATIVE}
    told = [line for one in compare(run) if (line := _sentence(one, names, _setting(run, one.params)))]
    return [*dead, *(told or _alone(duels(rows)))]


def _setting(run: Run, params: Mapping[str, Any]) -> str:
    """'NUM_CLIENTS 2: ', where there are several settings."""
    every = [*arm_settings(run).values()]
    varying = [name for name in params if len({value_text(one[name]) for one in every}) > 1]
    text = ", ".join(f"{name} {value_text(params[name])}" for name in varying)
    return f"{text}: " if text else ""


def _alone(found: Sequence[Contest]) -> list[str]:
    """What an arm serves that has none beside it."""
    return [
        f"{contest.label}: {one.name} serves {one.requests_per_s:,.0f} requests/s.".removeprefix(": ")
        for contest in found
        for one in contest.standings
    ]


def _sentence(one: Comparison, measured: set[str], setting: str) -> str:
    """One comparison in words; empty where one of its arms has no figures, which is said already."""
    if one.denominator not in measured or (one.step != "aa" and one.numerator not in measured):
        return ""
    if one.ratio is None:
        return f"{setting}{one.numerator} and {one.denominator} are not compared: {one.why.rstrip('.')}."
    span = "" if one.low is None or one.high is None else f" [{one.low:.2f}, {one.high:.2f}]"
    serves = f"{setting}{one.numerator} serves {one.ratio:.2f} x{span} what {one.denominator} does"
    if one.step == "aa":
        return f"{serves}: that is the same service twice, and so is noise."
    if one.verdict == "inconclusive":
        return f"{serves}, which is inconclusive: {one.why}."
    return f"{serves}: {one.verdict}."


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """The table for a terminal, for each setting."""
    return [
        Short(
            title=contest.label or "services",
            heads=ON_TERMINALS,
            lines=tuple((*line[:6], line[-1]) for line in map(figures, contest.standings)),
        )
        for contest in duels(rows)
    ]


def figures(one: Standing) -> list[str]:
    """An arm's figures for HEADS."""
    own = one.row.figures
    numbers = (own.p50_ns, own.p99_ns, own.client_cpu_ns, own.service_cpu_ns) if own else (None,) * 4
    costs = median_costs(one.row.good)
    return [
        one.name,
        f"{one.requests_per_s:,.0f}",
        share_text(one.share),
        *(microseconds(number) if number else "-" for number in numbers),
        f"{costs.service_pss / MIB:,.1f}" if costs and costs.service_pss else "-",
        _gil(one.row),
        str(len(one.row.good)),
    ]


def _gil(row: Row) -> str:
    """Whether the GIL of the service was on, in every block and at both ends; a dash where that is not known."""
    services = [service for cell in row.good for service in cell.services]
    if not services or not all(service.get("gil_known") for service in services):
        return "-"
    states = {service[key] for service in services for key in ("gil_enabled_ready", "gil_enabled_end")}
    return "changed" if len(states) > 1 else "on" if True in states else "off"
