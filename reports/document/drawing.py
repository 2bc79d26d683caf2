"""Types that describe plots: a panel has two axes and some curves, and a curve has a line, marks and bars."""

from dataclasses import KW_ONLY, dataclass

from core.messages import NOTHING, Message

COUNT = 8  # styles of arms


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point of a plot, with its tooltip and its error bars along x and y.

    tip: its tooltip
    low, high: its interval along y
    left, right: its interval along x
    """

    x: float
    y: float
    tip: str | Message = ""
    cells: str = ""
    low: float | None = None
    high: float | None = None
    left: float | None = None
    right: float | None = None


@dataclass(frozen=True, kw_only=True)
class Span:
    """A horizontal bar of a plot from x = *start* to x = *end*. By default, bars whose *y* differs by 1 do not touch.

    text: text beside the plot, at the height of the bar
    """

    y: float
    start: float
    end: float
    tip: str | Message = ""
    cells: str = ""
    height: float = 0.62
    faint: bool = False
    text: str | Message = ""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The line, marks and bars that a plot shows for one compared runtime or service (arm).

    look: the index of the arm's style, see render.panels
    """

    name: str | Message
    look: int
    line: tuple[tuple[float, float], ...] = ()
    marks: tuple[Mark, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Axis:
    """An axis of one plot (panel) of a figure.

    label: name with unit
    ticks: values with their texts; if empty, round values are chosen
    """

    label: Message
    _: KW_ONLY
    low: float = 0.0
    high: float
    is_log: bool = False
    ticks: tuple[tuple[float, str | Message], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot of a figure: its title, axes and curves, and an optional reference line.

    across, up: its axes
    level: a reference line at this y, or at this x if *upright*
    """

    title: Message = NOTHING
    across: Axis
    up: Axis
    curves: tuple[Curve, ...] = ()
    level: float | None = None
    upright: bool = False
