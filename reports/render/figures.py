"""Draw panels of figures with matplotlib as SVG for the page, and join them to one file a figure in
plots/.

reports/write.py calls page_panels() and sheet() for each figure of a report, and render/html.py
calls page_panels() for other documents. matplotlib writes one SVG per panel, and _FOR_PAGE edits
its text. The patterns depend on matplotlib, so look at the plots after an update of matplotlib.
Drawing changes process-wide settings of matplotlib (panels.style), so only one thread may draw.
"""

import re
from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from math import ceil
from textwrap import wrap
from urllib.parse import unquote

import matplotlib
from matplotlib.figure import Figure as Drawing

from core.languages import Language, Printable
from core.messages import Message
from reports.document import Figure, Panel
from reports.render import panels
from reports.render.html import environment
from reports.render.panels import COLOURS, LINK

# CSS variables by colour. Each opaque colour of colours.css (#rrggbb) is unique, so a colour in an
# SVG can be replaced by its variable, which has another value in dark mode.
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


# pattern and replacement, in this order: later patterns match what earlier ones leave
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
MOST_COLUMNS = 3  # panels beside each other in a file of plots/
# width of a file, left edge of its texts, distance of lines, and space above a panel's title
LEAST_WIDTH, EDGE, LINE, TITLE_GAP = (
    468.0,
    7,
    12.6,
    18,
)  # in points, as all lengths of a file in plots/
# width of a character in points, by which texts are wrapped
TITLE_CHARACTER, CAPTION_CHARACTER = 6.3, 5.4
_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def page_panels(figure: Figure, language: Language) -> list[str]:
    """Return the drawing of each panel of a figure that has curves, as SVG for the HTML page."""
    with panels.style():
        return [_panel_svg(*named, language) for named in _named(figure)]


def _named(figure: Figure) -> list[tuple[str, Panel]]:
    """Return the panels of a figure that have curves, each with a key that differs from those of
    all others.
    """
    return [
        (f"{figure.key}-{place}", panel)
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
    # ids in the SVG depend on the key alone: unique on the page, and equal in every report
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


def sheet(figure: Figure, drawn: Sequence[str], language: Language) -> str:
    """Return an SVG file with all panels of a figure, in rows below its title and caption. The same
    figure gives the same file.

    drawn: what page_panels() returned for this figure and language
    """
    language = Printable(language)
    sizes = [(float(box[1]), float(box[2])) for box in map(_BOX.search, drawn) if box]
    # panels in a row: all if they are few, else as in a square, but at most MOST_COLUMNS
    across = max(1, len(drawn))
    if across > MOST_COLUMNS:
        across = min(MOST_COLUMNS, ceil(across**0.5))
    column = max([LEAST_WIDTH / across, *(width for width, _ in sizes)])
    caption = _lines(figure.caption, across * column, CAPTION_CHARACTER, language)
    titles = [_lines(panel.title, column, TITLE_CHARACTER, language) for _, panel in _named(figure)]
    placed = []
    top = 30 + LINE * len(caption)
    for start in range(0, len(drawn), across):
        row = slice(start, start + across)
        foot = top + TITLE_GAP + LINE * max(map(len, titles[row]))
        for place, (title, svg, (width, height)) in enumerate(
            zip(titles[row], drawn[row], sizes[row], strict=True)
        ):
            left = place * column
            box = f'x="{left:g}" y="{foot:g}" width="{width:g}" height="{height:g}"'
            inner = svg.replace("<svg", f'<svg {box} overflow="visible"', 1)
            placed.append((title, left, top + TITLE_GAP, inner))
        top = foot + max(height for _, height in sizes[row])
    svg = environment().get_template("sheet.svg").render(
        title=language.text(figure.title), caption=caption, panels=placed,
        width=across * column, height=top, edge=EDGE, line=LINE, colours=COLOURS,
    )  # fmt: skip
    svg = re.sub(r"<(/?)a\b[^>]*>", r"<\1g>", svg)  # their links lead to places of the page
    return re.sub(rf"var\(--({'|'.join(COLOURS)})\)", lambda name: COLOURS[name[1]], svg) + "\n"


def _lines(words: Message, width: float, character: float, language: Language) -> list[str]:
    """Return the text, split into lines that fit into *width* points.

    character: the width of a character in points
    """
    return wrap(language.text(words), int((width - 2 * EDGE) / character), break_on_hyphens=False)
