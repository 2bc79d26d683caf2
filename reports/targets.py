"""The record of services that already run: each arm beside the first one, paired by block. Pure."""

from collections.abc import Mapping, Sequence

from core.result import Run
from reports.absent import absent_lines
from reports.columns import microseconds
from reports.markdown import escaped, markdown_table
from reports.standings import Contest, Short, Standing, contests, share_text
from reports.stats import FEWEST_FOR_INTERVAL
from reports.summary import Row

HEADS = ("arm", "requests/s", "of the first's", "p50 [us]", "p99 [us]", "client CPU [us/request]", "blocks")
HOW = (
    "Requests/s are medians over the blocks; shares are paired by block, with their 95 % interval. Nothing is known of "
    "the processes of a service that already ran: no CPU time, no memory, no GIL state."
)


def targets_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: what the arms serve, beside the first."""
    found = duels(run, rows)
    where = [f"- {name}: {escaped(url)}" for name, url in addresses(run).items()]
    parts = [f"# {run.plan['name']}: {run.run_id}", "\n".join(where), *said(run, found)]
    for contest in found:
        table = markdown_table(HEADS, [figures(one) for one in contest.standings], {*HEADS[1:]})
        parts += [*([f"## {contest.label}"] if contest.label else []), table]
    return "\n\n".join([*parts, HOW]) + "\n"


def duels(run: Run, rows: Sequence[Row]) -> list[Contest]:
    """A contest for each setting; the first arm that the plan names is the reference."""
    names = list(addresses(run))
    return contests(rows, {}, reference=names[0] if names else "")


def addresses(run: Run) -> dict[str, str]:
    """{arm: where it was}."""
    own = run.plan.get("own") or {}
    return {one["name"]: one["url"] for one in own.get("targets", ())}


def said(run: Run, found: Sequence[Contest]) -> list[str]:
    """Who serves how much of what the first arm does; what could not be measured."""
    return [*(line for contest in found for line in _sentences(contest)), *absent_lines(run)]


def _sentences(contest: Contest) -> list[str]:
    base = contest.reference
    setting = f"{contest.label}: " if contest.label else ""
    others = [one for one in contest.standings if one is not base]
    if not others:
        return [f"{setting}{base.name} serves {base.requests_per_s:,.0f} requests/s."]
    return [f"{setting}{_sentence(one, base)}" for one in others]


def _sentence(one: Standing, base: Standing) -> str:
    share = one.share
    if share is None:
        return f"{one.name} and {base.name} were not measured in the same blocks."
    serves = f"{one.name} serves {share.value:.2f} x"
    if share.count < FEWEST_FOR_INTERVAL:
        return f"{serves} what {base.name} does; {share.count} blocks cannot have an interval."
    doubt = "; the interval holds 1, so neither is shown to serve more" if share.low <= 1 <= share.high else ""
    return f"{serves} [{share.low:.2f}, {share.high:.2f}] what {base.name} does{doubt}."


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """The table for a terminal, for each setting."""
    return [
        Short(title=contest.label or "services", heads=HEADS, lines=tuple(map(tuple, map(figures, contest.standings))))
        for contest in contests(rows, {}, reference=rows[0].system if rows else "")
    ]


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """What the record says in words."""
    return said(run, duels(run, rows))


def figures(one: Standing) -> list[str]:
    """An arm's figures for HEADS."""
    own = one.row.figures
    numbers = (own.p50_ns, own.p99_ns, own.client_cpu_ns) if own else (None,) * 3
    return [
        one.name,
        f"{one.requests_per_s:,.0f}",
        share_text(one.share),
        *(microseconds(number) if number else "-" for number in numbers),
        str(len(one.row.good)),
    ]
