"""What a plot is drawn of: panels with axes, and curves of lines, marks and bars. No topic."""

from dataclasses import dataclass

from core.messages import NOTHING, Message


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point of a plot. tip: what pointing at it shows; low, high: its interval along y; left, right: along x."""

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
    """A bar of a plot: from *start* to *end* along x, at *y*, so high that neighbours 1 apart just do not touch.

    text: beside the plot, at the height of the bar
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
    """What a plot shows of one arm: a line, marks, bars. look: place of the arm among the looks of the report."""

    name: str | Message
    look: int
    line: tuple[tuple[float, float], ...] = ()
    marks: tuple[Mark, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Axis:
    """ticks: values with their texts; without any, round values are chosen. label: with the unit."""

    label: Message
    low: float
    high: float
    is_log: bool = False
    ticks: tuple[tuple[float, str | Message], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot of a figure. across, up: its axes; level: a value of y, or of x where *upright*, with its own line."""

    title: Message = NOTHING
    across: Axis
    up: Axis
    curves: tuple[Curve, ...] = ()
    level: float | None = None
    upright: bool = False
