"""The model of plots: panels with axes and curves of lines, marks and bars, and the style of each arm."""

from dataclasses import dataclass
from typing import Literal

from core.messages import NOTHING, Message

# CSS variables of the page. Plots are drawn in the light colours, which the page replaces by its variables.
LIGHT = {
    "ground": "#ffffff", "raised": "#f6f7f8", "ink": "#1b1f24", "soft": "#565d66", "rule": "#dfe3e7", "hair": "#eceff1",
    "link": "#0a57a4", "good": "#0a6b4e", "bad": "#a63a00", "open": "#565d67", "band": "#8a929a38", "focus": "#0a57a5",
    "r0": "#0072b2", "r1": "#b97400", "r2": "#008060", "r3": "#c0398a",
    "r4": "#cc4b00", "r5": "#5a4fcf", "r6": "#444c55", "r7": "#7d7200",
    "s0": "#0072b3", "s1": "#2d93cf", "s2": "#b97401", "s3": "#7a828b",
}  # fmt: skip
DARK = {
    "ground": "#14171a", "raised": "#1c2024", "ink": "#e7eaed", "soft": "#a8b0b8", "rule": "#343a41", "hair": "#252a2f",
    "link": "#7fbcf5", "good": "#5fd3aa", "bad": "#ff9e6b", "open": "#a8b0b8", "band": "#9aa2aa3d", "focus": "#7fbcf5",
    "r0": "#56b4e9", "r1": "#f0a928", "r2": "#2fc79b", "r3": "#ee92c8",
    "r4": "#ff8a4c", "r5": "#a9a1ff", "r6": "#c3cad1", "r7": "#e6dc55",
    "s0": "#56b4e9", "s1": "#8fcbf0", "s2": "#f0a928", "s3": "#98a0a8",
}  # fmt: skip
COUNT = 8

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES: tuple[Literal["-", "--", "-.", ":"], ...] = ("-", "--", "-.", ":")
_HATCHES = ("", "////", "....", "xxxx", "----", "||||", "\\\\\\\\", "++++")


@dataclass(frozen=True, kw_only=True)
class ArmStyle:
    """The style in which an arm is drawn. Arms that share a colour differ in dash and hatch."""

    colour: str
    marker: str
    dash: Literal["-", "--", "-.", ":"]
    hatch: str


def arm_style(place: int) -> ArmStyle:
    """Return the style of the arm at *place* in the order of arms."""
    sign = place + place // COUNT
    return ArmStyle(
        colour=LIGHT[f"r{place % COUNT}"],
        marker=_MARKERS[sign % COUNT],
        dash=_DASHES[sign % len(_DASHES)],
        hatch=_HATCHES[sign % COUNT],
    )


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point of a plot. tip: its tooltip; low, high: its interval along y; left, right: its interval along x."""

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
    """A bar of a plot from *start* to *end* along x, at *y*. By default, bars at distance 1 do not touch.

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
    """The data of one arm in a plot: a line, marks and bars. look: the index of the arm's style, see arm_style()"""

    name: str | Message
    look: int
    line: tuple[tuple[float, float], ...] = ()
    marks: tuple[Mark, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis of a panel. label: name with unit; ticks: values with their texts; if empty, round values are chosen"""

    label: Message
    low: float
    high: float
    is_log: bool = False
    ticks: tuple[tuple[float, str | Message], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot of a figure. across, up: its axes; level: a reference line at this y, or at this x if *upright*"""

    title: Message = NOTHING
    across: Axis
    up: Axis
    curves: tuple[Curve, ...] = ()
    level: float | None = None
    upright: bool = False
