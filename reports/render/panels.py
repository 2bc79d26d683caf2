"""Draw one panel of a figure on matplotlib's axes.

For each panel, figures.py asks this module for the size, makes the axes, and calls draw(). A panel
is one plot of a figure, and a curve is what it shows of one arm (runtime or service), as
reports/document.py declares them. Sizes are in inches. MARKERS should look like m0, m1 and so
on of templates/definitions.svg, which the page draws beside the names of arms.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import matplotlib
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from rich.cells import cell_len

from core.languages import Language
from reports.document import COUNT, Axis, Curve, Panel, Span

CSS = Path(__file__).with_name("templates") / "colours.css"
COLOURS = dict(
    re.findall("--(.+): (.+);", CSS.read_text().partition("@media")[0])
)  # light, by name
SOFT = COLOURS["soft"]
MARKERS = "os^DvPX*"  # by index of the arm's style
DASHES: tuple[Literal["-", "--", "-.", ":"], ...] = ("-", "--", "-.", ":")
WIDTH, HEIGHT = 4.6, 2.9  # of a panel, in inches; at full width on the page, a point is a CSS pixel
# height of a bar with its gap; space below the axes for the labels of ticks and of the axis
BAR_INCHES, BELOW_INCHES = 0.22, 0.5
BAR_HEIGHT = 0.8  # of the distance between bars whose y differs by 1
# least margins at the sides, and the width of a character of a text in them
LEFT_INCHES, RIGHT_INCHES, CHARACTER_INCHES = 0.75, 0.85, 0.077
NAME_GAP = 0.062  # least distance between names of lines, as a share of HEIGHT
# space above the axes, if their vertical axis lists names, and if it is a scale
ABOVE_ROWS_INCHES, ABOVE_SCALE_INCHES = (
    0.08,
    0.26,
)  # the second leaves room for the label of the scale
LINK = "#cells:"  # start of a mark's URL, which figures.py makes a link of the page
STYLE = CSS.with_name("plots.mplstyle")
COLOURED: dict[Any, Any] = {
    "text.color": COLOURS["ink"],
    "grid.color": COLOURS["hair"],
    **dict.fromkeys(("axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), SOFT),
}


class ArmStyle(NamedTuple):
    """The style in which a figure draws one runtime or service.

    Two of them that share a colour differ in marker and line dashes.
    """

    colour: str
    marker: str
    dash: Literal["-", "--", "-.", ":"]


def arm_style(place: int) -> ArmStyle:
    """Return the colour, marker and dashes for the runtime or service (arm) with index *place*."""
    # each further round of colours begins one marker and one kind of dashes later
    sign = place + place // COUNT
    return ArmStyle(COLOURS[f"r{place % COUNT}"], MARKERS[sign % COUNT], DASHES[sign % len(DASHES)])


@contextmanager
def style() -> Iterator[None]:
    """Return a context in which figures are drawn and saved in the common style. It changes
    matplotlib's settings and the warnings of the whole process.
    """
    with (
        matplotlib.rc_context(COLOURED, STYLE),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings(
            "ignore", "Glyph .* missing"
        )  # the reader's browser may have the fonts
        yield


def panel_height(panel: Panel) -> float:
    """Return the height of a panel in inches. It depends on the number of bars or rows, or of named
    lines.
    """
    if not _has_rows(panel):
        return max(
            HEIGHT, 0.8 + NAME_GAP * HEIGHT * sum(bool(curve.line) for curve in panel.curves)
        )
    return (
        ABOVE_ROWS_INCHES + BELOW_INCHES + BAR_INCHES * max(2.0, abs(panel.up.high - panel.up.low))
    )


def _has_rows(panel: Panel) -> bool:
    """Return whether the vertical axis of a panel is a list of names, such as of bars, instead of a
    scale of values.
    """
    return any(curve.spans for curve in panel.curves)


def margins(panel: Panel, language: Language) -> tuple[float, float]:
    """Return a panel's margins in inches: left for tick labels, right for names of curves."""
    ticks = [language.text(text) for _, text in panel.up.ticks]
    beside = [language.text(curve.name) for curve in panel.curves]
    left = max(LEFT_INCHES, 0.15 + CHARACTER_INCHES * max(map(cell_len, ticks), default=0))
    return left, max(RIGHT_INCHES, 0.25 + CHARACTER_INCHES * max(map(cell_len, beside), default=0))


def width(margins: tuple[float, float]) -> float:
    """Return the width of a panel in inches. Wide margins shrink the plot to at least 65 % of its
    normal width.
    """
    plot = WIDTH - LEFT_INCHES - RIGHT_INCHES
    return sum(margins) + max(0.65 * plot, WIDTH - sum(margins))


def axes_height(panel: Panel) -> float:
    """Return the height of a panel's axes in inches. The axes begin BELOW_INCHES above the bottom
    of the panel.
    """
    return (
        panel_height(panel)
        - BELOW_INCHES
        - (ABOVE_ROWS_INCHES if _has_rows(panel) else ABOVE_SCALE_INCHES)
    )


def description(panel: Panel, language: Language) -> str:
    """Return a description for a screen reader: the axes, and the first and last value of each
    line.
    """
    ends = [
        f"{language.text(curve.name)}: {curve.line[0][1]:,.4g} - {curve.line[-1][1]:,.4g}"
        for curve in panel.curves
        if curve.line
    ]
    return (
        f"{language.text(panel.up.label)} / {language.text(panel.across.label)}. {'; '.join(ends)}"
    )


def draw(axes: Axes, panel: Panel, language: Language) -> None:
    """Draw one panel of a figure."""
    _scale(axes, panel, language)
    if panel.level is not None:
        axes.axhline(panel.level, color=SOFT, linestyle=":", linewidth=1)
    for curve in panel.curves:
        _spans(axes, curve)
        if len(curve.line) > 1:
            sign = arm_style(curve.look)
            axes.plot(
                *zip(*curve.line, strict=True),
                color=sign.colour,
                linestyle=sign.dash,
                clip_on=False,
                zorder=2,
            )
        _marks(axes, curve, language)
    _names(axes, panel, language)


def _scale(axes: Axes, panel: Panel, language: Language) -> None:
    has_bars = _has_rows(panel)
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x" if has_bars else "y", clip_on=False)
    for axis, of, is_x in ((axes.xaxis, panel.across, True), (axes.yaxis, panel.up, False)):
        (axes.set_xscale if is_x else axes.set_yscale)("log" if of.is_log else "linear")
        (axes.set_xlim if is_x else axes.set_ylim)(of.low, of.high)
        axis.set_minor_locator(NullLocator())
        if of.ticks:
            axis.set_major_locator(FixedLocator([value for value, _ in of.ticks]))
            texts = {value: language.text(text) for value, text in of.ticks}
            axis.set_major_formatter(
                FuncFormatter(lambda value, _, texts=texts: texts.get(value, ""))
            )
        else:
            axis.set_major_locator(_locator(of))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.set_xlabel(language.text(panel.across.label))
    if not has_bars:
        axes.text(
            0.0,
            1.03,
            language.text(panel.up.label),
            transform=axes.transAxes,
            color=SOFT,
            fontsize=10,
        )


def _locator(of: Axis) -> MaxNLocator | LogLocator:
    if not of.is_log or of.high < 4 * of.low:
        return MaxNLocator(5, steps=(1, 2, 2.5, 5, 10))
    # a ratio: the wider the scale, the fewer ticks has each power of ten
    decades = of.high / of.low
    return LogLocator(
        subs=(1.0,) if decades > 300 else (1.0, 3.0) if decades > 30 else (1.0, 2.0, 5.0)
    )


def _spans(axes: Axes, curve: Curve) -> None:
    """Draw the bars of a curve: one shape for the faint bars, and one for the others."""
    colour = arm_style(curve.look).colour
    for is_faint, alpha in ((False, 0.6), (True, 0.28)):
        bars = [_rectangle(span) for span in curve.spans if span.faint is is_faint]
        if bars:
            outline = Outline.make_compound_path(*bars)
            patch = PathPatch(
                outline, facecolor=colour, edgecolor=colour, alpha=alpha, linewidth=0, zorder=1
            )
            axes.add_patch(patch)


def _url(cells: str, tip: str) -> str | None:
    """Return a link from a mark in a chart to its measurements (*cells*), with a tooltip; None if
    it has none.
    """
    return f"{LINK}{cells}|{quote(tip.replace('|', '/'))}" if cells else None


def _rectangle(span: Span) -> Outline:
    low, high = span.y - BAR_HEIGHT / 2, span.y + BAR_HEIGHT / 2
    corners = [
        (span.start, low),
        (span.end, low),
        (span.end, high),
        (span.start, high),
        (span.start, low),
    ]
    return Outline(corners, closed=True)


def _marks(axes: Axes, curve: Curve, language: Language) -> None:
    sign = arm_style(curve.look)
    for mark in curve.marks:
        if mark.low is not None and mark.high is not None:
            axes.plot([mark.x, mark.x], [mark.low, mark.high], color=sign.colour, linewidth=1.4)
    if curve.marks:
        points = axes.scatter(
            [mark.x for mark in curve.marks],
            [mark.y for mark in curve.marks],
            s=48.0 if sign.marker in ("*", "P", "X") else 32.0,
            marker=sign.marker,
            color=sign.colour,
            edgecolors=COLOURS["ground"],
            linewidths=0.5,
            zorder=3,
            clip_on=False,
        )
        points.set_urls([_url(mark.cells, language.text(mark.tip)) for mark in curve.marks])


def _names(axes: Axes, panel: Panel, language: Language) -> None:
    """Draw each arm's name beside the end of its line. Names are moved so that they do
    not overlap.
    """
    to_axes = axes.transData + axes.transAxes.inverted()
    named = [curve for curve in panel.curves if curve.line]
    ends = {id(curve): float(to_axes.transform(curve.line[-1])[1]) for curve in named}
    ended = sorted(named, key=lambda curve: ends[id(curve)])
    # in units of the axes' height
    gap = NAME_GAP * HEIGHT / max(0.5, axes_height(panel))
    for place, curve in zip(spread([ends[id(curve)] for curve in ended], gap), ended, strict=True):
        axes.text(
            1.03,
            place,
            language.text(curve.name),
            transform=axes.transAxes,
            va="center",
            fontsize=10,
            color=COLOURS[f"r{curve.look % COUNT}"],
        )


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending *places* between 0 and 1, moved as little as needed to be at least *gap*
    apart.
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else max(0.0, place))
    limit = 1.0
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], limit)
        limit = moved[index] - gap
    return moved
