"""Draw panels of figures with matplotlib as SVG for the page."""

import re
from collections.abc import Callable
from html import escape
from io import StringIO
from urllib.parse import unquote

import matplotlib
from matplotlib.figure import Figure as Drawing

from core.languages import Language, Printable
from reports.document.model import Figure, Panel
from reports.render import panels
from reports.render.panels import COLOURS, LINK

_VARIABLES = {colour: f"var(--{name})" for name, colour in COLOURS.items() if len(colour) == 7}


def _short(places: re.Match[str]) -> str:
    """Return SVG coordinates rounded down to two decimals. More decimals make no visible
    difference.
    """
    return re.sub(
        r"(\.\d\d)\d+", r"\1", re.sub(r"([MLCz]) ?\n?", r"\1", places[0].replace("\n", ""))
    )


def _link(start: re.Match[str]) -> str:
    """Return the SVG tag that opens the link from a mark in a figure to the measurements which the
    mark shows.
    """
    cells, _, quoted = start[1].removeprefix(LINK).partition("|")
    cells, tip = escape(cells), escape(unquote(quoted))
    attributes = f'data-cells="{cells}" tabindex="-1" aria-label="{tip}"'
    return f'<a href="#cells" {attributes}><title>{tip}</title>'


_FOR_PAGE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"(?s)<metadata>.*?</metadata>|<!--.*?-->", ""),
    (r" font-family: [^;\"]*;|font: [^;\"]*?(?=\d+px)| transform=\"rotate\(-0 [^\"]*\"", ""),
    (r'<g id="[^"]*">', "<g>"),
    (r'<g id="[^"]*"/>|<g>\s*</g>', ""),
    (r"\s*\n\s*(?=[A-Za-z<\"])", ""),
    (r' (?:d|x|y)="[^"]*"', _short),
    (r'<a xlink:href="([^"]*)"[^>]*>', _link),
    ("|".join(_VARIABLES), lambda colour: _VARIABLES[colour[0]]),
    (r'style="fill: var\(--(r\d)\); stroke: var\(--ground\)[^"]*"', r'class="mark \1"'),
)
POINTS_PER_INCH = 72


def page_panels(figure: Figure, language: Language) -> list[str]:
    """Return the drawing of each panel of a figure that has curves, as SVG for the HTML page."""
    with panels.style():
        return [
            _panel_svg(f"{figure.key}-{place}", panel, language)
            for place, panel in enumerate(figure.panels)
            if panel.curves
        ]


def _panel_svg(key: str, panel: Panel, language: Language) -> str:
    """Return a panel as an SVG element of the page, with the page's links, colour variables and bar
    patterns.
    """
    language = Printable(language)
    height, margins = panels.panel_height(panel), panels.margins(panel, language)
    width = panels.width(margins)
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": key}):
        drawing = Drawing(figsize=(width, height))
        left, bottom, up = (
            margins[0] / width,
            panels.BELOW_INCHES / height,
            panels.axes_height(panel) / height,
        )
        panels.draw(drawing.add_axes((left, bottom, 1 - sum(margins) / width, up)), panel, language)
        drawing.savefig(
            text,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    inner = text.getvalue().partition("<svg")[2].partition(">")[2]
    for pattern, replacement in _FOR_PAGE:
        inner = re.sub(pattern, replacement, inner)
    kind, label = (
        "panel wide" if width > 1.1 * panels.WIDTH else "panel",
        escape(panels.description(panel, language)),
    )
    box = f"0 0 {POINTS_PER_INCH * width:g} {POINTS_PER_INCH * height:g}"
    attributes = f'class="{kind}" viewBox="{box}" role="group" aria-label="{label}"'
    return f'<svg {attributes} focusable="false">{inner}'
