"""Where the time of a request goes: calc, the rest of user time, kernel and waiting, one after the other."""

from collections.abc import Mapping

from core.messages import NOTHING, Message, message
from reports.document.model import (
    Column,
    Datum,
    Form,
    Group,
    Line,
    Section,
    Strip,
    Table,
    arm,
    columns,
    groups,
    number,
    plain_table,
    words,
)
from reports.document.values import megabytes, tenths
from reports.facts.cells import Row, setting_key
from reports.facts.commands import command_line
from reports.facts.costs import Costs, median_costs, what_moved
from reports.facts.traces import of_rows
from reports.topics import of_run
from reports.view import View

PLACE = 80
WANTED = message("Where the time of a request goes")
COMMAND = of_run(command_line)  # once more: what an older version did not measure, this one does
Figures = Mapping[str, tuple[Message, Form]]
TIMES: Figures = {
    "calc": (message("calc"), tenths),
    "service_user": (message("user"), tenths),
    "service_system": (message("kernel"), tenths),
    "waiting": (message("waiting"), tenths),
    "client_user": (message("client user"), tenths),
    "client_system": (message("client kernel"), tenths),
}
MORE: Figures = {
    "service_run_queue": (message("core wait"), tenths),
    "client_run_queue": (message("client core wait"), tenths),
    "service_voluntary": (message("vol. sw."), tenths),
    "service_involuntary": (message("invol. sw."), tenths),
    "service_rss": (message("service peak MB"), megabytes),
    "service_pss": (message("service PSS MB"), megabytes),
    "client_rss": (message("client peak MB"), megabytes),
}
RUNTIME = message("Runtime")


def section(view: View) -> Section:
    """The costs of every row; what moved most at each step; what perf saw."""
    profiles = tuple(_profiles(view))
    return Section(
        key="costs",
        title=message("Where the time goes"),
        sentences=profiles,
        tables=(_times(view), _more(view), _moved(view)),
        terminal=profiles,
    )


def _profiles(view: View) -> list[Message]:
    """perf's own figures, which are of no cell: they come from services that were started once more."""
    return [
        message("perf, {profile}", profile=view.settings.profiled(profile))
        for profile in view.run.profiles
        if profile.get("kind", "perf") == "perf"
    ]


def _times(view: View) -> Table:
    """A group for each setting, a bar for each arm; each setting has its own scale."""
    drawn = []
    for head, known in _known(view):
        timed = [(row, costs) for row, costs in known if row.figures]
        longest = max((sum(_parts(costs).values()) for _, costs in timed), default=0.0) or 1.0
        lines = tuple(_line(row, costs, TIMES, view, _strip(row, costs, longest)) for row, costs in timed)
        drawn.append(Group(head=head, lines=lines))
    return Table(
        name=message("Where the time goes"),
        columns=(Column(head=RUNTIME), Column(head=NOTHING, is_strip=True), *columns((), _heads(TIMES))),
        groups=tuple(drawn),
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


def _more(view: View) -> Table:
    return Table(
        name=message("Waiting for a core, context switches and memory"),
        columns=columns([RUNTIME], _heads(MORE)),
        groups=groups((head, (_line(row, costs, MORE, view) for row, costs in known)) for head, known in _known(view)),
        folded=True,
        caption=message(
            "Core wait: ready to run, without a core, in us per request. Switches (voluntary, involuntary): of the "
            "service, per request. Memory: of all processes of a side together. Medians over the blocks."
        ),
    )


def _known(view: View) -> list[tuple[Message, list[tuple[Row, Costs]]]]:
    """The name of each setting, and the rows that have costs."""
    return [
        (head, [(row, costs) for row in rows if (costs := median_costs(row.cells))]) for head, rows in view.named_groups
    ]


def _heads(figures: Figures) -> list[Message]:
    return [head for head, _ in figures.values()]


def _line(row: Row, costs: Costs, figures: Figures, view: View, *drawing: Datum) -> Line:
    cells = of_rows([row])
    values = [number(getattr(costs, name), form, cells, name) for name, (_, form) in figures.items()]
    return arm(row.runtime, view.looks[row.runtime], cells), *drawing, *values


def _parts(costs: Costs) -> dict[str, float]:
    """us per request; the calc loop is a part of user time, so that its rest follows."""
    calc, user = costs.calc or 0.0, costs.service_user or 0.0
    return {
        "calc": calc,
        "user": max(0.0, user - calc),
        "kernel": costs.service_system or 0.0,
        "waiting": costs.waiting or 0.0,
    }


def _strip(row: Row, costs: Costs, longest: float) -> Datum:
    bars, end = [], 0.0
    for place, size_us in enumerate(_parts(costs).values()):
        bars += [(end, end + size_us, f"piece s{place}")] if size_us else []
        end += size_us
    tip = ", ".join(f"{name} {size_us:.1f}" for name, size_us in _parts(costs).items())
    strip = Strip(low=0.0, high=longest, bars=tuple(bars), tip=f"{row.runtime}: {tip} us")
    return Datum(strip=strip, cells=of_rows([row]))


def _moved(view: View) -> Table:
    """The two parts that changed most between the arms of each comparison of a setting."""
    costs = {(*setting_key(row.system, row.params), row.runtime): median_costs(row.cells) for row in view.rows}
    lines = []
    for comparison in view.compared:
        setting = setting_key(comparison.system, comparison.params)
        before, after = (costs.get((*setting, name)) for name in (comparison.denominator, comparison.numerator))
        if before and after and (moved := what_moved(before, after)):
            name = view.settings.name(comparison.system, comparison.params)
            step = f"{comparison.denominator} → {comparison.numerator}"
            lines.append((name, step, words(moved, cells=view.traces.of(comparison))))
    heads = (message("Setting"), message("Step"), message("What changed most"))
    return plain_table(
        message("What changed most at each step, per request"), heads, lines, kind="reasons", folded=True
    )
