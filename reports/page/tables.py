"""Tables of the page: lines under group heads, whose figures name their cells. A cell may hold a drawing. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reports.page.look import Look
from reports.page.svg import Html, tag, text


@dataclass(frozen=True, kw_only=True)
class Datum:
    """One cell of a table. text: what it says; drawing: what it shows instead.

    cells: the groups of cells it comes from; figure: which of their figures it is, for who checks it
    leads: whether it is a link to those cells; kind: its class in the style sheet; look: of a runtime's name
    hint: more of it, shown when pointed at
    """

    text: str = ""
    drawing: Html | None = None
    cells: str = ""
    figure: str = ""
    leads: bool = False
    kind: str = ""
    look: Look | None = None
    hint: str = ""


Line = tuple[Datum, ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Lines that belong together. head: what they have in common, or empty."""

    lines: tuple[Line, ...]
    head: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """name: what a screen reader calls it. The first datum of a line is its head. kind: its class."""

    name: str
    heads: Line
    groups: tuple[Group, ...]
    kind: str = ""
    keys: tuple[tuple[Html, str], ...] = field(default=())

    def __bool__(self) -> bool:
        return any(group.lines for group in self.groups)


def heads(*texts: str | Datum, numbers: Sequence[str] = ()) -> Line:
    """The heads of a table's columns. numbers: those of columns that hold numbers."""
    return tuple(
        one if isinstance(one, Datum) else Datum(text=one, kind="number" if one in numbers else "") for one in texts
    )


def number(told: str, cells: str = "", figure: str = "") -> Datum:
    """A figure."""
    return Datum(text=told, cells=cells, figure=figure, kind="number")


def runtime(name: str, look: Look | None, cells: str) -> Datum:
    """A runtime's name, with its sign, that leads to its cells."""
    return Datum(text=name, cells=cells, leads=bool(cells), look=look, kind="runtime")


def sign(look: Look) -> Html:
    """A runtime's marker, as in plots, to stand beside its name."""
    marker = tag("use", href=f"#m{look.place}", x="6", y="6", class_=f"mark {look.name}")
    return tag("svg", marker, class_="sign", width="12", height="12", aria_hidden="true", focusable="false")


def plain(lines: Sequence[Sequence[str]], name: str, titles: Sequence[str], kind: str = "") -> Table:
    """A table of texts. kind: its class in the style sheet."""
    made = tuple(tuple(Datum(text=one) for one in line) for line in lines)
    return Table(name=name, heads=heads(*titles), groups=(Group(lines=made),), kind=kind)


def drawing(height: int, name: str, *parts: Html, **more: str) -> Html:
    """A drawing as wide as its place and *height* pixels high. name: what a screen reader says of it."""
    size = {"width": "100%", "height": str(height)}
    return tag("svg", *parts, class_="strip", role="img", aria_label=name, focusable="false", **size, **more)


def axis(ticks: Sequence[tuple[float, str]], name: str) -> Html:
    """The labels of a scale above drawings; ticks: place in per cent, text.

    Every second one is spare, to be left out where there is little room; 1 is none of these.
    """
    kept = next((index for index, (_, told) in enumerate(ticks) if told == "1"), 0) % 2
    kinds = ["tick" if index % 2 == kept else "tick spare" for index in range(len(ticks))]
    labels = [
        tag("text", text(told), x=f"{place:.2f}%", y="11", class_=kind)
        for (place, told), kind in zip(ticks, kinds, strict=True)
    ]
    return drawing(14, name, *labels)
