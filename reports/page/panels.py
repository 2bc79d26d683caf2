"""Plots of curves: panels on common scales, a line and marks for each arm, its name at the line's end. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reports.page.look import Look
from reports.page.svg import Html, Scale, joined, path, percent, tag, text

HEIGHT = 210
TOP, LABEL_GAP, LEFT_GAP = 8, 13.0, 8
BOX = {"viewBox": f"0 0 1000 {HEIGHT}", "width": "100%", "height": str(HEIGHT), "preserveAspectRatio": "none"}


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point that was measured. tip: what is told of it; cells: the groups it comes from; low, high: its interval."""

    x: float
    y: float
    tip: str = ""
    cells: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One arm's line, and its marks."""

    name: str
    look: Look
    line: tuple[tuple[float, float], ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Axis:
    """ticks: values with their texts; none: round values of the scale."""

    label: str
    low: float
    high: float
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()

    def scale(self, start: float, end: float) -> Scale:
        """The scale between two places."""
        return Scale(low=self.low, high=self.high, start=start, end=end, is_log=self.is_log)

    def labelled(self, most: int) -> list[tuple[float, str]]:
        """Its ticks, or *most* round ones."""
        return list(self.ticks) or [(one, f"{one:,g}") for one in self.scale(0, 1).ticks(most)]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot. key: its id on the page; level: a value of y with a line of its own, such as 1 for ratios."""

    key: str
    title: str
    across: Axis
    up: Axis
    curves: tuple[Curve, ...] = field(default=())
    level: float | None = None
    note: str = ""


def draw(panel: Panel) -> Html:
    """The panel as SVG, with its title and a description for those who do not see it."""
    x, y = panel.across.scale(0, 100), panel.up.scale(HEIGHT, TOP)
    names = f"{panel.key}-t {panel.key}-d"
    parts = [
        tag("title", text(panel.title or panel.up.label), id=f"{panel.key}-t"),
        tag("desc", text(_description(panel)), id=f"{panel.key}-d"),
        *_grid(panel, x, y),
        *(_line(curve, x, y) for curve in panel.curves),
        *(_marks(curve, x, y) for curve in panel.curves),
        *_names(panel.curves, y),
    ]
    size = {"width": "100%", "height": str(HEIGHT + 36)}
    return tag("svg", *parts, class_="panel", role="img", aria_labelledby=names, focusable="false", **size)


def _description(panel: Panel) -> str:
    """The two axes, and where each line begins and ends."""
    ends = [f"{curve.name}: {curve.line[0][1]:,.4g} - {curve.line[-1][1]:,.4g}" for curve in panel.curves if curve.line]
    return f"{panel.up.label} / {panel.across.label}. {'; '.join(ends)}"


def _grid(panel: Panel, x: Scale, y: Scale) -> list[Html]:
    parts = []
    for value, told in panel.up.labelled(5):
        place = y.at(value)
        parts.append(tag("line", x1="0", x2="100%", y1=place, y2=place, class_="grid"))
        parts.append(tag("text", text(told), x=f"-{LEFT_GAP}", y=place + 4, class_="tick left"))
    for value, told in panel.across.labelled(5):
        place_x = percent(x.at(value))
        parts.append(tag("line", x1=place_x, x2=place_x, y1=str(HEIGHT), y2=str(HEIGHT + 4), class_="stop"))
        parts.append(tag("text", text(told), x=place_x, y=str(HEIGHT + 17), class_="tick"))
    parts.append(tag("text", text(panel.across.label), x="50%", y=str(HEIGHT + 33), class_="label"))
    parts.append(tag("line", x1="0", x2="100%", y1=str(HEIGHT), y2=str(HEIGHT), class_="base"))
    if panel.level is not None:
        level = y.at(panel.level)
        parts.append(tag("line", x1="0", x2="100%", y1=level, y2=level, class_="unity"))
    return parts


def _line(curve: Curve, x: Scale, y: Scale) -> Html:
    points = [(x.at(across), y.at(up)) for across, up in curve.line]
    if len(points) < 2:
        return joined([])
    line = tag("path", d=path(points), class_=f"line {curve.look.name}")
    return tag("svg", line, class_="stretch", **BOX)


def _marks(curve: Curve, x: Scale, y: Scale) -> Html:
    return joined([part for mark in curve.marks for part in _mark(mark, curve.look, x, y)])


def _mark(mark: Mark, look: Look, x: Scale, y: Scale) -> list[Html]:
    place = percent(x.at(mark.x))
    made = [look.marker(place, y.at(mark.y), mark.tip, data_cells=mark.cells or None)]
    if mark.low is not None and mark.high is not None:
        ends = {"y1": y.at(mark.low), "y2": y.at(mark.high)}
        made.insert(0, tag("line", x1=place, x2=place, class_=f"whisker {look.name}", **ends))
    return made


def _names(curves: Sequence[Curve], y: Scale) -> list[Html]:
    """Each arm's name beside the end of its line, moved so far that none covers another."""
    ended = sorted((curve for curve in curves if curve.line), key=lambda curve: y.at(curve.line[-1][1]))
    places = spread([y.at(curve.line[-1][1]) for curve in ended])
    return [
        tag("text", text(curve.name), x="100%", y=place + 4, dx="9", class_=f"name {curve.look.name}")
        for place, curve in zip(places, ended, strict=True)
    ]


def spread(places: Sequence[float]) -> list[float]:
    """Places in order, none nearer than a line of text to the next, and moved as little as that takes."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + LABEL_GAP) if moved else place)
    over = moved[-1] - HEIGHT if moved else 0.0
    if over > 0:
        for index in range(len(moved) - 1, -1, -1):
            limit = HEIGHT if index == len(moved) - 1 else moved[index + 1] - LABEL_GAP
            moved[index] = min(moved[index], limit)
    return moved
