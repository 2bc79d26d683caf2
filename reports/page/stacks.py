"""Where the time of a request goes: calc, the rest of user time, kernel and waiting, one after the other. Pure."""

from collections.abc import Mapping

from reports.page.settings import Settings
from reports.page.svg import Html, Scale, percent, tag
from reports.page.tables import Datum, Group, Line, Table, drawing, heads, number, runtime
from reports.page.traces import of_rows
from reports.rows.costs import Costs, median_costs

HEIGHT = 20
FIGURES = ("calc", "service_user", "service_system", "waiting", "client_user", "client_system")
HEADS = ("calc", "user_all", "system_time", "waiting", "client_user", "client_system")
PARTS = ("calc", "user", "system_time", "waiting")


def stacks(settings: Settings, words: Mapping[str, str]) -> Table:
    """A group for each setting, a bar for each arm; each setting has its own scale."""
    groups = []
    for some in settings.groups:
        told = [(row, median_costs(row.cells)) for row in some]
        known = [(row, costs) for row, costs in told if costs is not None and row.figures]
        longest = max((sum(_parts(costs).values()) for _, costs in known), default=0.0)
        scale = Scale(low=0.0, high=longest or 1.0)
        lines = tuple(
            _line(runtime(row.runtime, settings.looks[row.runtime], of_rows([row])), costs, scale, words)
            for row, costs in known
        )
        groups.append(Group(head=settings.name(some[0].system, some[0].params), lines=lines))
    names = [words[one] for one in HEADS]
    titles = heads(words["runtime"], Datum(kind="plot"), *names, numbers=names)
    kept = tuple(one for one in groups if one.lines)
    return Table(name=words["costs"], heads=titles, groups=kept, kind="stacks", keys=_keys(words))


def _parts(costs: Costs) -> dict[str, float]:
    """us per request; the calc loop is a part of user time, so that its rest follows."""
    calc, user = costs.calc or 0.0, costs.service_user or 0.0
    return {
        "calc": calc,
        "user": max(0.0, user - calc),
        "system_time": costs.service_system or 0.0,
        "waiting": costs.waiting or 0.0,
    }


def _line(name: Datum, costs: Costs, scale: Scale, words: Mapping[str, str]) -> Line:
    values = [(one, getattr(costs, one)) for one in FIGURES]
    figures = [number("-" if value is None else f"{value:.1f}", name.cells, one) for one, value in values]
    return name, Datum(drawing=_stack(name.text, costs, scale, words), kind="plot", cells=name.cells), *figures


def _stack(name: str, costs: Costs, scale: Scale, words: Mapping[str, str]) -> Html:
    end, bars, said = 0.0, [], []
    for place, (part, size) in enumerate(_parts(costs).items()):
        left, right = scale.at(end), scale.at(end + size)
        end += size
        said.append(f"{words[part]} {size:.1f}")
        if size:
            bars.append(_piece(left, right - left, place))
    return drawing(HEIGHT, f"{name}: {', '.join(said)} us", *bars)


def _piece(left: float, width: float, place: int) -> Html:
    box = {"x": percent(left), "width": percent(width), "y": "3", "height": "14"}
    return tag("rect", class_=f"piece s{place}", fill=f"url(#s{place})", **box)


def _keys(words: Mapping[str, str]) -> tuple[tuple[Html, str], ...]:
    """The signs of the parts, with their names."""
    made = []
    for place, part in enumerate(PARTS):
        box = tag("rect", class_=f"piece s{place}", fill=f"url(#s{place})", width="18", height="12", y="1")
        made.append((tag("svg", box, width="18", height="14", aria_hidden="true", focusable="false"), words[part]))
    return tuple(made)
