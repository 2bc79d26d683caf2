"""What a run says: the verdicts in words, what they are due to, and where the time goes. For terminal and Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.messages import Message
from core.result import Run
from reports.findings import fairness, limit, memory, topology
from reports.findings import scaling as scaling_report
from reports.rows.columns import ABSENT
from reports.rows.comparisons import OVER_ALL, Comparison, compare
from reports.rows.costs import Costs, median_costs, what_moved
from reports.rows.steps import not_separated, steps
from reports.rows.summary import Row, runtimes, setting_key
from reports.rows.view import View, view_of
from reports.statistics.significance import fewest_blocks
from reports.terminal.console import wrapped
from reports.words.markdown import escaped
from reports.words.translation import said, said_together
from reports.words.wording import figures, verdict_lines

MOST_ROWS = 24
TITLE = "What changed, and what it is due to"
SPECIAL = (limit, topology, scaling_report, memory, fairness)
COST_HEADS = {
    "calc": "calc",
    "waiting": "waiting",
    "service_user": "user",
    "service_system": "kernel",
    "service_run_queue": "core wait",
    "service_voluntary": "vol. sw.",
    "service_involuntary": "invol. sw.",
    "client_user": "client user",
    "client_system": "client kernel",
    "client_run_queue": "client core wait",
}
MEMORY_HEADS = {"service_rss": "service peak MB", "service_pss": "service PSS MB", "client_rss": "client peak MB"}


def comparisons(run: Run | View) -> list[dict[str, Any]]:
    """Every comparison, as result.json keeps it."""
    return [one.to_json() for one in view_of(run).comparisons]


def _limits(one: Comparison) -> str:
    """What limits a comparison, in brackets behind its sentence."""
    limits = _limiting(one)
    return f" ({'; '.join(limits)})" if limits else ""


def _footnote(one: Comparison, lang: str) -> str:
    """What limits a comparison, and why it is invalid, below the table."""
    return said_together([*([one.why] if one.verdict == "invalid" else []), *_limiting(one)], lang)


def _limiting(one: Comparison) -> list[str]:
    confound = [f"confound: {', '.join(one.confounds)}"] if one.confounds else []
    return [*confound, *one.notes]


def print_findings(run: Run | View, console: Console, lang: str = "en") -> None:
    """The verdict table, what else the run says, and what that rests on. lang: of the sentences."""
    view = view_of(run)
    run, compared = view.run, view.comparisons
    if not compared:
        _print_lines(special(run), console, lang)
        return
    shown = _most_telling(compared)
    limits = list(dict.fromkeys(text for one in shown if (text := _footnote(one, lang))))
    console.print()
    console.print(_table(run, shown, limits, lang))
    for number, text in enumerate(limits, start=1):
        console.print(Text(wrapped(f"[{number}] {text}", console.width)))
    if len(shown) < len(compared):
        more = f"{len(compared) - len(shown)} more comparisons are in findings.md."
        console.print(said(more, lang), highlight=False)
    _print_lines([*special(run), *validity(run, compared)], console, lang)


def _print_lines(lines: Sequence[str], console: Console, lang: str) -> None:
    """Sentences below an empty line; nothing where there are none."""
    for line in ["", *lines] if lines else []:
        console.print(Text(wrapped(said(line, lang), console.width)))


def _most_telling(compared: Sequence[Comparison]) -> list[Comparison]:
    """All of them, if they fit on a screen; else those over all cells, and the first that say something."""
    if len(compared) <= MOST_ROWS:
        return list(compared)
    telling = [one for one in compared if one.system == OVER_ALL or one.verdict in ("faster", "slower")]
    return sorted(telling, key=lambda one: one.system != OVER_ALL)[:MOST_ROWS]


def _table(run: Run, shown: Sequence[Comparison], limits: Sequence[str], lang: str) -> Table:
    title, *heads = (said(text, lang) for text in (TITLE, "system", "step", "ratio [95 %]", "verdict"))
    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    table.add_column(heads[0], overflow="fold")
    table.add_column(heads[1], overflow="fold")
    table.add_column(heads[2], justify="right", no_wrap=True)
    table.add_column(heads[3], no_wrap=True)
    for one in shown:
        step = f"{said(one.step, lang)}: {one.denominator} -> {one.numerator}"
        footnote = _footnote(one, lang)
        mark = f" [{limits.index(footnote) + 1}]" if footnote else ""
        setting = said(label(one.system, one.params, run), lang)
        texts = (setting, step, said(figures(one), lang), said(one.verdict, lang) + mark)
        table.add_row(*map(Text, texts))
    return table


def special(run: Run) -> list[str]:
    """Sentences on topology, scaling, memory, fairness and profiles, where the run has them."""
    told = [line for one in SPECIAL for line in one.sentences(run)]
    return told + [
        f"perf, system {one['system']} on {one['runtime']}: {Message.from_json(one['sentence'])}."
        for one in run.profiles
    ]


def validity(run: Run, compared: Sequence[Comparison]) -> list[str]:
    """What the verdicts rest on: blocks, the noise floor, the client, and what cannot be separated."""
    blocks = len({cell.block for cell in run.cells})
    lines = [f"{blocks} block{'' if blocks == 1 else 's'}, cells in random order (seed {run.seed})."]
    floors = [one.noise_floor for one in compared if one.noise_floor is not None and one.step == "aa"]
    if floors:
        least, most = f"{min(floors):.1%}", f"{max(floors):.1%}"
        lines.append(f"Noise floor (the same runtime twice): {least if least == most else f'{least} to {most}'}.")
    elif not any(one.step == "aa" for one in compared):
        lines.append("No A/A arm was measured, so the noise floor is not known: add --aa.")
    asked = run.plan.get("method", {}).get("client_runtime", "same")
    if asked == "same":
        lines.append("Clients run under the service's runtime, so both sides change: --client-runtime holds them.")
    else:
        lines.append(f"Clients run under {asked} in every cell: only the service changes.")
    return lines + not_separated(steps(runtimes(run), {}))


def label(system: str, params: Mapping[str, Any], run: Run) -> str:
    """A setting in a few words: the system, and what tells it from the others of that system."""
    if system == OVER_ALL:
        return "all"
    rows = run.plan["rows"]
    mine = [row["params"] for row in rows if row["system"] == system] or [row["params"] for row in rows]
    varying = [name for name in params if len({str(one.get(name)) for one in mine}) > 1]
    return " ".join([system, *(f"{name}={str(params[name]).lower()}" for name in varying)])


def markdown(run: Run | View) -> str:
    """All verdicts with their reasons, and where the time goes, as Markdown."""
    view = view_of(run)
    run, compared = view.run, view.comparisons
    parts = [f"# {TITLE}\n"]
    parts += [f"{line}\n" for line in verdict_lines(compared)]
    parts += ["## Verdicts\n", _verdict_table(view), "\n## What they rest on\n"]
    parts += [f"- {line}" for line in validity(run, compared)]
    parts += ["\n## Where the time goes\n", _cost_table(view)]
    parts += [text for one in SPECIAL if (text := one.markdown(run))]
    parts += ["\n## Profiles\n"] if run.profiles else []
    parts += [
        f"- system {one['system']} on {one['runtime']}: {Message.from_json(one['sentence'])}" for one in run.profiles
    ]
    return "\n".join(parts) + "\n"


def _verdict_table(view: View) -> str:
    heads = ("system", "step", "from", "to", "ratio [95 %]", "p", "noise floor", "verdict", "why", "what moved")
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    by_arm = {(*setting_key(row.system, row.params), row.runtime): row for row in view.rows}
    for one in view.comparisons:
        cells = (
            label(one.system, one.params, view.run),
            one.step,
            one.denominator,
            one.numerator,
            figures(one),
            ABSENT if one.p is None else f"{one.p:.3f}",
            ABSENT if one.noise_floor is None else f"{one.noise_floor:.1%}",
            one.verdict,
            one.why + _limits(one),
            _moved(one, by_arm),
        )
        lines.append("| " + " | ".join(map(escaped, cells)) + " |")
    return "\n".join(lines)


def _moved(one: Comparison, by_arm: Mapping[tuple[str, str, str], Row]) -> str:
    setting = setting_key(one.system, one.params)
    arms = [by_arm.get((*setting, arm)) for arm in (one.denominator, one.numerator)]
    before, after = (median_costs(arm.cells) if arm else None for arm in arms)
    return what_moved(before, after) if before and after else ""


def _cost_table(view: View) -> str:
    heads = ["system", "runtime", *COST_HEADS.values(), *MEMORY_HEADS.values()]
    lines = [
        "Per request and in us, but for context switches (voluntary, involuntary; per request) and memory (of all",
        "processes of a side together). calc: the calc loop; waiting: from sending until the handler began (one",
        "request in 64 asks); core wait: ready to run, without a core. Medians over the blocks.\n",
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
    ]
    for row in view.rows:
        costs = median_costs(row.cells)
        if costs is not None:
            where = label(row.system, row.params, view.run)
            lines.append("| " + " | ".join([where, row.runtime, *_costs(costs)]) + " |")
    return "\n".join(lines)


def _costs(costs: Costs) -> list[str]:
    times = [getattr(costs, name) for name in COST_HEADS]
    memory = [getattr(costs, name) for name in MEMORY_HEADS]
    shown = [ABSENT if value is None else f"{value:.1f}" for value in times]
    return shown + [ABSENT if value is None else f"{value / 1e6:.0f}" for value in memory]


def widest(run: Run) -> float:
    """Width of the widest interval of the steps, as a share of its ratio; infinite while one can have no verdict.

    That takes an interval, and so many blocks that p can be small enough for the family. Infinite where nothing is
    compared at all. Invalid comparisons do not count, since more blocks would not help them; 0 where all are.
    """
    compared = [one for one in compare(run) if one.step != "aa"]
    if not compared:
        return float("inf")
    family = [one for one in compared if one.verdict != "invalid"]
    fewest = fewest_blocks(max(1, len(family)))
    return max((_width(one, fewest) for one in family if one.system != OVER_ALL), default=0.0)


def _width(one: Comparison, fewest: int) -> float:
    if one.low is None or one.high is None or not one.ratio or one.blocks < fewest:
        return float("inf")
    return (one.high - one.low) / one.ratio


def _profiles(run: Run) -> list[str]:
    return [f"system {one['system']} on {one['runtime']}: {Message.from_json(one['sentence'])}" for one in run.profiles]
