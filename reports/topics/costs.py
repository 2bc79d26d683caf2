"""Where the time of a request goes: calc, the rest of user time, kernel and waiting, one after the other."""

from itertools import accumulate, pairwise
from operator import attrgetter

from core.messages import AND, NOTHING, Message, listed, message
from reports.document.model import Datum, Section, Strip, Table, plain_table, words
from reports.document.shapes import Col, arm_col, col, table
from reports.facts.cells import Row, setting_key
from reports.facts.commands import command_line
from reports.facts.costs import CALC, KERNEL, MORE, TIMES, USER, WAITING, Cost
from reports.facts.traces import of_row
from reports.topics import of_run
from reports.view import View

PLACE = 80
WANTED = message("Where the time of a request goes")
COMMAND = of_run(command_line)  # once more: what an older version did not measure, this one does
LEAST_US = 0.5  # a smaller change is not worth a sentence


def section(view: View) -> Section:
    """Return the costs of every row, what moved most at each step, and what perf saw."""
    arm: Col[Row] = arm_col(attrgetter("runtime"), view.looks, of_row)
    more = table(
        message("Waiting for a core, context switches and memory"),
        [arm, *map(_col, MORE)],
        [(head, [row for row in rows if row.good]) for head, rows in view.named_groups],
        folded=True,
        caption=message(
            "Core wait: ready to run, without a core, in us per request. Switches (voluntary, involuntary): of the "
            "service, per request. Memory: of all processes of a side together. Medians over the blocks."
        ),
    )
    profiles = tuple(  # perf's own figures are of no cell: they come from services that were started once more
        message("perf, {profile}", profile=view.settings.profiled(profile))
        for profile in view.run.profiles
        if profile.get("kind", "perf") == "perf"
    )
    return Section(
        key="costs",
        title=message("Where the time goes"),
        sentences=profiles,
        tables=(_times(arm, view), more, _moved(view)),
        terminal=profiles,
    )


def _col(cost: Cost) -> Col[Row]:
    return col(cost.head, lambda row: cost.of(row.good), cost.form, of_row, cost.name)


def _times(arm: Col[Row], view: View) -> Table:
    """Return a bar for each arm. Each setting has its own scale."""
    timed = [(head, [row for row in rows if row.figures]) for head, rows in view.named_groups]
    longest = {id(row): max(sum(_parts(each).values()) for each in rows) or 1.0 for _, rows in timed for row in rows}

    def bar(row: Row) -> Datum:
        parts = _parts(row)
        ends = pairwise(accumulate(parts.values(), initial=0.0))
        bars = tuple((start, end, f"piece s{place}") for place, (start, end) in enumerate(ends) if end > start)
        tip = ", ".join(f"{name} {size_us:.1f}" for name, size_us in parts.items())
        strip = Strip(low=0.0, high=longest[id(row)], bars=bars, tip=f"{row.runtime}: {tip} us")
        return Datum(strip=strip, cells=of_row(row))

    return table(
        message("Where the time goes"),
        [arm, col(NOTHING, bar, is_strip=True), *map(_col, TIMES)],
        timed,
        kind="stacks",
        key="stacks",
        keys=(
            ("s0", message("calc")),
            ("s1", message("user, rest")),
            ("s2", message("kernel")),
            ("s3", message("waiting")),
        ),
        caption=message(
            "Per request, in us, medians over the blocks: the calc loop and the rest of the service's user time, its "
            "kernel time, and waiting, from sending until the handler began (one request in 64 is asked). Calc and "
            "waiting are wall time, user and kernel are CPU time: the sum is not a latency."
        ),
    )


def _parts(row: Row) -> dict[str, float]:
    """Return us per request. The calc loop is a part of user time, so the rest of it follows."""
    calc, user, kernel, waiting = (cost.of(row.good) or 0.0 for cost in (CALC, USER, KERNEL, WAITING))
    return {"calc": calc, "user": max(0.0, user - calc), "kernel": kernel, "waiting": waiting}


def _moved(view: View) -> Table:
    """Return the two parts that changed most between the arms of each comparison of a setting."""
    rows = {(*row.key, row.runtime): row for row in view.rows}
    lines = []
    for comparison in view.compared:
        setting = setting_key(comparison.system, comparison.params)
        before, after = (rows.get((*setting, arm)) for arm in (comparison.denominator, comparison.numerator))
        if before and after and (moved := _what_moved(before, after)):
            name = view.settings.name(comparison.system, comparison.params)
            step = f"{comparison.denominator} → {comparison.numerator}"
            lines.append((name, step, words(moved, cells=view.traces.of(comparison))))
    heads = (message("Setting"), message("Step"), message("What changed most"))
    return plain_table(
        message("What changed most at each step, per request"), heads, lines, kind="reasons", folded=True
    )


def _what_moved(before: Row, after: Row) -> Message:
    """Return which two times of a request changed most from *before* to *after*; nothing if none did."""
    both = [(cost.time, cost.of(before.good), cost.of(after.good)) for cost in (*TIMES, *MORE) if cost.time]
    changes = [
        (abs(new - old), message("{time} {before:.1f} → {after:.1f} us", time=time, before=old, after=new))
        for time, old, new in both
        if old is not None and new is not None
    ]
    most = sorted(changes, key=lambda change: -change[0])[:2]
    return listed((change for size_us, change in most if size_us >= LEAST_US), last=AND)
