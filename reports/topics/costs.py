"""Show where the time of a request goes: calculation, other user time, kernel time and waiting."""

from itertools import accumulate, pairwise
from operator import attrgetter

from core.messages import AND, NOTHING, Message, listed, message
from reports.document.model import Datum, Section, Strip, Table, plain_table, words
from reports.document.shapes import Col, arm_col, col, table
from reports.facts.cells import Row, setting_key
from reports.facts.commands import command_line
from reports.facts.costs import CALC, KERNEL, MORE, TIMES, USER, WAITING, Cost
from reports.facts.traces import of_row
from reports.view import View

PLACE = 21
WANTED = message("Where the time of a request goes")
COMMAND = command_line  # the same run again: older versions did not measure this
LEAST_US = 0.5  # smaller changes are not reported


def section(view: View) -> Section:
    """Return the report's section on the time per request: all runtimes, the largest changes, and perf profiles."""
    arm: Col[Row] = arm_col(attrgetter("runtime"), view.looks, of_row)
    more = table(
        message("Waiting for a core, context switches and memory"),
        [arm, *map(_col, MORE)],
        [(head, [row for row in rows if row.good]) for head, rows in view.named_groups],
        folded=True,
        caption=message(
            "Core wait is the time in which threads were ready to run but had no core, in us per request. Switches are "
            "voluntary and involuntary context switches of the service, per request. Memory is the sum over all "
            "service, or all client, processes. All figures are medians over the blocks (rounds of measurement)."
        ),
    )
    profiles = tuple(  # perf ran in extra cells, which the other figures do not include
        message("perf profile: {profile}", profile=view.settings.profiled(profile))
        for profile in view.run.profiles
        if profile.get("kind", "perf") == "perf"
    )
    return Section(
        key="costs",
        title=message("Where the time of a request goes"),
        sentences=profiles,
        tables=(_times(arm, view), more, _largest_changes(view)),
        terminal=profiles,
    )


def _col(cost: Cost) -> Col[Row]:
    """Return the table column of a cost, such as CPU time per request."""
    return col(cost.head, lambda row: cost.of(row.good), cost.form, of_row, cost.name)


def _times(arm: Col[Row], view: View) -> Table:
    """Return a table with a stacked bar of the time per request for each runtime. Each setting has its own scale."""
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
        message("Where the time of a request goes"),
        [arm, col(NOTHING, bar, is_strip=True), *map(_col, TIMES)],
        timed,
        kind="stacks",
        key="stacks",
        keys=(
            ("s0", message("calculation")),
            ("s1", message("user time without the calculation")),
            ("s2", message("kernel")),
            ("s3", message("waiting")),
        ),
        caption=message(
            "Time per request in us, as medians over the blocks (measured rounds). Calculation is the time in the "
            "calculation loop. User and kernel are the service's CPU time in user and kernel mode. In the bars, user "
            "time excludes the calculation. Waiting is the time from sending a request until its handler starts, "
            "sampled from one request in 64. Calculation and waiting are wall time, user and kernel CPU time, so their "
            "sum is not the latency."
        ),
    )


def _parts(row: Row) -> dict[str, float]:
    """Return the parts of the time per request in us. The part `user` excludes the handlers' calculation loop."""
    calc, user, kernel, waiting = (cost.of(row.good) or 0.0 for cost in (CALC, USER, KERNEL, WAITING))
    return {"calc": calc, "user": max(0.0, user - calc), "kernel": kernel, "waiting": waiting}


def _largest_changes(view: View) -> Table:
    """Return a table with the two largest changes in time per request for each comparison of two runtimes."""
    rows = {(*row.key, row.runtime): row for row in view.rows}
    lines = []
    for comparison in view.compared:
        setting = setting_key(comparison.system, comparison.params)
        before, after = (rows.get((*setting, arm)) for arm in (comparison.denominator, comparison.numerator))
        if before and after and (moved := _changes_of_row(before, after)):
            name = view.settings.name(comparison.system, comparison.params)
            step = f"{comparison.denominator} → {comparison.numerator}"
            lines.append((name, step, words(moved, cells=comparison.cells)))
    heads = (message("Setting"), message("Step"), message("Largest changes in time per request"))
    return plain_table(
        message("Largest changes in time per request between runtimes"), heads, lines, kind="reasons", folded=True
    )


def _changes_of_row(before: Row, after: Row) -> Message:
    """Return text on the two kinds of time per request, such as kernel time, that changed most; empty if none did."""
    both = [(cost.time, cost.of(before.good), cost.of(after.good)) for cost in (*TIMES, *MORE) if cost.time]
    changes = [
        (abs(new - old), message("{time} {before:.1f} → {after:.1f} us", time=time, before=old, after=new))
        for time, old, new in both
        if old is not None and new is not None
    ]
    most = sorted(changes, key=lambda change: -change[0])[:2]
    return listed((change for size_us, change in most if size_us >= LEAST_US), last=AND)
