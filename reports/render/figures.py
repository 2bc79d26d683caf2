"""Figures by matplotlib: one drawing of a panel serves the page (SVG within it) and the files of plots/ (SVG, PNG)."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from html import escape
from io import StringIO
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from core.languages import Language
from reports.document.looks import COUNT, LIGHT, Look, look
from reports.document.model import Axis, Curve, Figure, Panel

WIDTH, HEIGHT = 4.6, 2.75  # inches, of a panel; a point is a CSS pixel where the page shows it at its own width
BAR_INCHES, AROUND_BARS_INCHES = 0.2, 0.72
NAME_GAP = 0.055
MOST_COLUMNS = 3
DOTS_PER_INCH = 110
LINK = "#cells:"
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "sans-serif")
STYLE: dict[Any, Any] = {
    "font.size": 8.5, "font.family": list(FONTS[:1]), "text.color": LIGHT["ink"], "axes.labelcolor": LIGHT["soft"],
    "axes.edgecolor": LIGHT["soft"], "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "axes.axisbelow": True, "axes.grid": True, "axes.grid.axis": "y", "grid.color": LIGHT["hair"],
    "grid.linewidth": 0.8, "xtick.color": LIGHT["soft"], "ytick.color": LIGHT["soft"], "ytick.major.size": 0,
    "xtick.labelsize": 8, "ytick.labelsize": 8, "hatch.linewidth": 0.7, "lines.linewidth": 1.5,
    "svg.fonttype": "none", "svg.hashsalt": "gilscope", "figure.facecolor": "none", "axes.facecolor": "none",
}  # fmt: skip
_VARIABLES = {colour: f"var(--{name})" for name, colour in LIGHT.items() if len(colour) == 7}
_COLOUR = re.compile("|".join(_VARIABLES))


def style() -> AbstractContextManager[None]:
    """Within it, figures are drawn and saved in the one style of all."""
    return matplotlib.rc_context(STYLE)


def panel_height(panel: Panel) -> float:
    """In inches: so much as the bars take, where it has bars."""
    if not any(curve.spans for curve in panel.curves):
        return HEIGHT
    return AROUND_BARS_INCHES + BAR_INCHES * max(2.0, abs(panel.up.high - panel.up.low))


def page_panels(figure: Figure, language: Language) -> list[tuple[str, str]]:
    """Title and SVG of each panel with something in it, for a page: its colours, and links to the cells of a mark."""
    with style():
        return [
            (language.text(panel.title), _page_svg(panel, f"{figure.key}-{place}", language))
            for place, panel in enumerate(figure.panels)
            if panel.curves
        ]


def save(figure: Figure, folder: Path, language: Language) -> list[Path]:
    """Write *figure* to folder/<key>.svg and .png; the paths. The same figure gives the same bytes."""
    paths = [folder / f"{figure.key}.svg", folder / f"{figure.key}.png"]
    with style():
        drawing = _sheet(figure, language)
        drawing.savefig(paths[0], metadata={"Date": None, "Title": figure.key}, facecolor="white")
        drawing.savefig(paths[1], dpi=DOTS_PER_INCH, metadata={"Title": figure.key}, facecolor="white")
    return paths


def _sheet(figure: Figure, language: Language) -> Drawing:
    """All panels of a figure, with title and caption above."""
    panels = [panel for panel in figure.panels if panel.curves]
    across = min(MOST_COLUMNS, ceil(len(panels) ** 0.5)) if len(panels) > 3 else max(1, len(panels))
    rows = [panels[start : start + across] for start in range(0, len(panels), across)]
    heights = [0.3 + max(map(panel_height, row)) for row in rows]
    head = 0.7
    drawing = Drawing(figsize=(max(6.5, across * WIDTH), head + sum(heights)))
    width, height = drawing.get_size_inches()
    drawing.text(0.1 / width, 1 - 0.12 / height, language.text(figure.title), fontsize=12, weight="bold", va="top")
    caption = drawing.text(0.1 / width, 1 - 0.38 / height, language.text(figure.caption), color=LIGHT["soft"], va="top")
    caption.set_wrap(True)
    top = height - head
    for row, row_height in zip(rows, heights, strict=True):
        for column, panel in enumerate(row):
            inches = panel_height(panel)
            box = _box(column * width / across, top - 0.3 - inches, width / across, inches)
            axes = drawing.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height))
            axes.set_title(language.text(panel.title), loc="left", fontsize=9, weight="bold")
            _draw(axes, panel, language)
        top -= row_height
    return drawing


def _box(left: float, bottom: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Where the axes stand in a panel, in inches: room for labels left and below, for names on the right."""
    return left + 0.72, bottom + 0.5, width - 1.55, height - 0.6


def _page_svg(panel: Panel, key: str, language: Language) -> str:
    height = panel_height(panel)
    drawing = Drawing(figsize=(WIDTH, height))
    box = _box(0, 0, WIDTH, height)
    axes = drawing.add_axes((box[0] / WIDTH, box[1] / height, box[2] / WIDTH, box[3] / height))
    _draw(axes, panel, language)
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": key}):
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _for_page(text.getvalue(), _description(panel, language))


def _description(panel: Panel, language: Language) -> str:
    """The axes, and where each line begins and ends, for those who do not see it."""
    ends = [f"{curve.name}: {curve.line[0][1]:,.4g} - {curve.line[-1][1]:,.4g}" for curve in panel.curves if curve.line]
    return f"{language.text(panel.up.label)} / {language.text(panel.across.label)}. {'; '.join(ends)}"


def _for_page(svg: str, description: str) -> str:
    """matplotlib's SVG without what only a file needs; links lead to cells, colours are the page's variables."""
    body = svg[svg.index("<svg") :]
    box = re.search(r'viewBox="([^"]+)"', body)
    assert box is not None
    inner = body[body.index(">") + 1 :]
    inner = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", inner, flags=re.DOTALL)
    inner = re.sub(r"\s*\n\s*", "\n", inner)
    inner = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", inner)
    inner = re.sub(r'<a xlink:href="([^"]*)">', lambda match: _link(match[1]), inner)
    inner = _COLOUR.sub(lambda match: _VARIABLES[match[0]], inner)
    label = escape(description)
    return f'<svg class="panel" viewBox="{box[1]}" role="group" aria-label="{label}" focusable="false">{inner}'


def _link(url: str) -> str:
    """The start of a link that shows the cells of a mark, with its tip."""
    cells, _, tip = url.removeprefix(LINK).partition("|")
    return f'<a href="#cells" data-cells="{cells}" tabindex="-1" aria-label="{tip}"><title>{tip}</title>'


def _url(cells: str, tip: str) -> str | None:
    return f"{LINK}{cells}|{tip}" if cells else None


def _draw(axes: Axes, panel: Panel, language: Language) -> None:
    """One panel, whoever it is for."""
    _scale(axes, panel, language)
    if panel.level is not None:
        (axes.axvline if panel.upright else axes.axhline)(panel.level, color=LIGHT["soft"], linestyle=":", linewidth=1)
    for curve in panel.curves:
        _spans(axes, curve)
        if len(curve.line) > 1:
            sign = look(curve.look)
            axes.plot(*zip(*curve.line, strict=True), color=sign.colour, linestyle=sign.dash, clip_on=False, zorder=2)
        _marks(axes, curve)
    if any(curve.line for curve in panel.curves):
        _names(axes, panel)


def _scale(axes: Axes, panel: Panel, language: Language) -> None:
    has_bars = any(curve.spans for curve in panel.curves) or panel.upright
    axes.grid(visible=True, axis="x" if has_bars else "y")
    for axis, of, is_x in ((axes.xaxis, panel.across, True), (axes.yaxis, panel.up, False)):
        (axes.set_xscale if is_x else axes.set_yscale)("log" if of.is_log else "linear")
        (axes.set_xlim if is_x else axes.set_ylim)(of.low, of.high)
        axis.set_minor_locator(NullLocator())
        if of.ticks:
            axis.set_major_locator(FixedLocator([value for value, _ in of.ticks]))
            texts = dict(of.ticks)
            axis.set_major_formatter(FuncFormatter(lambda value, _, texts=texts: texts.get(value, "")))
        else:
            axis.set_major_locator(_locator(of))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.set_xlabel(language.text(panel.across.label))
    axes.set_title(axes.get_title(loc="left"), loc="left")
    if not has_bars:
        axes.text(-0.0, 1.02, language.text(panel.up.label), transform=axes.transAxes, color=LIGHT["soft"], fontsize=8)
    elif panel.up.label:
        axes.spines["left"].set_visible(True)


def _locator(of: Axis) -> MaxNLocator | LogLocator:
    if not of.is_log:
        return MaxNLocator(5)
    decades = of.high / of.low
    return LogLocator(subs=(1.0,) if decades > 300 else (1.0, 3.0) if decades > 30 else (1.0, 2.0, 5.0))


def _spans(axes: Axes, curve: Curve) -> None:
    sign = look(curve.look)
    for span in curve.spans:
        bars = axes.barh(
            [span.y], [span.end - span.start], left=[span.start], height=span.height,
            color=sign.colour, alpha=0.28 if span.faint else 0.6, edgecolor=sign.colour, linewidth=0.8,
            hatch=sign.hatch if span.height > 0.3 and not span.faint else "", zorder=1,
        )  # fmt: skip
        for bar in bars:
            bar.set_url(_url(span.cells, span.tip))


def _marks(axes: Axes, curve: Curve) -> None:
    sign = look(curve.look)
    for mark in curve.marks:
        if mark.low is not None and mark.high is not None:
            axes.plot([mark.x, mark.x], [mark.low, mark.high], color=sign.colour, linewidth=1.4)
        if mark.left is not None and mark.right is not None:
            axes.plot([mark.left, mark.right], [mark.y, mark.y], color=sign.colour, linewidth=1.4)
    if curve.marks:
        points = axes.scatter(
            [mark.x for mark in curve.marks], [mark.y for mark in curve.marks],
            s=_area(sign), marker=sign.marker, color=sign.colour, edgecolors=LIGHT["ground"], linewidths=0.5, zorder=3,
            clip_on=False,
        )  # fmt: skip
        points.set_urls([_url(mark.cells, mark.tip) for mark in curve.marks])


def _area(sign: Look) -> float:
    return 34.0 if sign.marker in ("*", "P", "X") else 20.0


def _names(axes: Axes, panel: Panel) -> None:
    """Each arm's name beside the end of its line, moved so far that none covers another."""
    to_axes = axes.transData + axes.transAxes.inverted()
    named = [curve for curve in panel.curves if curve.line]
    ends = {id(curve): float(to_axes.transform(curve.line[-1])[1]) for curve in named}
    ended = sorted(named, key=lambda curve: ends[id(curve)])
    gap = NAME_GAP * HEIGHT / max(0.5, HEIGHT - 0.6)
    for place, curve in zip(spread([ends[id(curve)] for curve in ended], gap), ended, strict=True):
        axes.text(
            1.03, place, curve.name, transform=axes.transAxes, va="center", fontsize=8,
            color=LIGHT[f"r{curve.look % COUNT}"],
        )  # fmt: skip


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Rising places from 0 to 1, none nearer than *gap* to the next, and moved as little as that takes."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else max(0.0, place))
    limit = 1.0
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], limit)
        limit = moved[index] - gap
    return moved


def tip(name: str, value: str) -> str:
    """What pointing at a mark shows, without signs that a link could not hold."""
    return f"{name}: {value}".replace("|", "/")
