"""Draw figures with matplotlib: as SVG in the page's colours, and as SVG and PNG files in plots/."""

import os
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from io import BytesIO, StringIO
from math import ceil
from textwrap import wrap
from typing import Any
from urllib.parse import unquote

import matplotlib
from matplotlib.figure import Figure as Drawing

from core.languages import ENGLISH, Language, Printable, language
from core.messages import Message
from core.result import PLOTS
from reports.document.drawing import Panel
from reports.document.model import Figure
from reports.render import panels
from reports.render.apart import Drawn, failure
from reports.render.panels import BARS, COLOURS, LINK, SOFT

_VARIABLES = {colour: f"var(--{name})" for name, colour in COLOURS.items() if len(colour) == 7}


def _patterned(bars: re.Match[str]) -> str:
    look = bars[1]
    return re.sub(r'style="[^"]*"', f'class="bar r{look}" fill="url(#p{look})"', bars[2])


def _short(places: re.Match[str]) -> str:
    """Return SVG coordinates rounded down to two decimals. More decimals make no visible difference."""
    return re.sub(r"(\.\d\d)\d+", r"\1", re.sub(r"([MLCz]) ?\n?", r"\1", places[0].replace("\n", "")))


def _link(start: re.Match[str]) -> str:
    """Return the SVG tag that opens the link from a mark in a figure to the measurements which the mark shows."""
    cells, _, quoted = start[1].removeprefix(LINK).partition("|")
    cells, tip = escape(cells), escape(unquote(quoted))
    return f'<a href="#cells" data-cells="{cells}" tabindex="-1" aria-label="{tip}"><title>{tip}</title>'


_FOR_PAGE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (rf'(?s)<g id="{BARS}(\d)">(.*?)</g>', _patterned),
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
MOST_COLUMNS = 3
DOTS_PER_INCH = 110
LEAST_WIDTH, EDGE, LINE = 6.5, 0.1, 0.175
TITLE_CHARACTER, CAPTION_CHARACTER = 0.088, 0.075
ABOVE_TITLE, BELOW_TITLE = 0.16, 0.08


def page_panels(figure: Figure, language: Language) -> list[tuple[str, str]]:
    """Return the title of each panel of a figure that has curves, and its drawing as SVG for the HTML page."""
    language = Printable(language)
    with panels.style():
        return [
            (language.text(panel.title), _page_svg(panel, f"{figure.key}-{place}", language))
            for place, panel in enumerate(figure.panels)
            if panel.curves
        ]


def _page_svg(panel: Panel, key: str, language: Language) -> str:
    """Return a panel as an SVG element of the page, with the page's links, colour variables and bar patterns."""
    height, margins = panels.panel_height(panel), panels.margins(panel, language)
    width = panels.width(margins)
    drawing = Drawing(figsize=(width, height))
    _place(drawing, panel, (margins[0], panels.BELOW_INCHES, width - sum(margins)), language, is_page=True)
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": key}):
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = text.getvalue()
    box = re.search(r'viewBox="([^"]+)"', svg)
    assert box is not None
    inner = svg[svg.index(">", svg.index("<svg")) + 1 :]
    for pattern, replacement in _FOR_PAGE:
        inner = re.sub(pattern, replacement, inner)
    kind, label = "panel wide" if width > 1.1 * panels.WIDTH else "panel", escape(panels.description(panel, language))
    return f'<svg class="{kind}" viewBox="{box[1]}" role="group" aria-label="{label}" focusable="false">{inner}'


def files(figure: Figure, language: Language) -> dict[str, bytes]:
    """Return the contents of plots/<key>.svg and plots/<key>.png. The same figure gives the same bytes.

    The texts are in English if this machine has no font for the language.
    """
    made = {}
    with panels.style():
        drawing = _sheet(figure, Printable(language if panels.chinese_fonts() else ENGLISH))
        for kind, undated in (("svg", {"Date": None}), ("png", {})):
            content = BytesIO()
            metadata = {**undated, "Title": figure.key}
            drawing.savefig(content, format=kind, dpi=DOTS_PER_INCH, metadata=metadata, facecolor="white")
            made[f"{PLOTS}/{figure.key}.{kind}"] = content.getvalue()
    return made


def _sheet(figure: Figure, language: Language) -> Drawing:
    """Return a drawing of all panels of a figure, in rows below the figure's title and caption."""
    drawn = [panel for panel in figure.panels if panel.curves]
    across = min(MOST_COLUMNS, ceil(len(drawn) ** 0.5)) if len(drawn) > MOST_COLUMNS else max(1, len(drawn))
    panel_width = max([LEAST_WIDTH / across, *(panels.width(panels.margins(panel, language)) for panel in drawn)])
    rows = [drawn[start : start + across] for start in range(0, len(drawn), across)]
    titles = [[_lines(panel.title, panel_width, TITLE_CHARACTER, language) for panel in row] for row in rows]
    heads = [ABOVE_TITLE + BELOW_TITLE + LINE * max(map(len, row)) for row in titles]
    heights = [max(map(panels.panel_height, row)) for row in rows]
    caption = _lines(figure.caption, across * panel_width, CAPTION_CHARACTER, language)
    top = 0.42 + LINE * len(caption)
    width, height = across * panel_width, top + sum(heads) + sum(heights)
    drawing = Drawing(figsize=(width, height))
    drawing.text(EDGE / width, 1 - 0.12 / height, language.text(figure.title), fontsize=13, weight="bold", va="top")
    drawing.text(EDGE / width, 1 - 0.4 / height, "\n".join(caption), color=SOFT, va="top")
    for row, names, head, row_height in zip(rows, titles, heads, heights, strict=True):
        for column, (panel, title) in enumerate(zip(row, names, strict=True)):
            left = column * panel_width
            drawing.text(
                (left + EDGE) / width, 1 - (top + ABOVE_TITLE) / height, "\n".join(title), weight="bold", va="top"
            )
            margins = panels.margins(panel, language)
            foot = height - top - head - panels.panel_height(panel) + panels.BELOW_INCHES
            _place(drawing, panel, (left + margins[0], foot, panel_width - sum(margins)), language, is_page=False)
        top += head + row_height
    return drawing


def _place(
    drawing: Drawing, panel: Panel, place: tuple[float, float, float], language: Language, *, is_page: bool
) -> None:
    """Draw a panel at *place*: the left, bottom and width of its axes, in inches."""
    width, height = drawing.get_size_inches()
    left, bottom, across = place
    axes = drawing.add_axes((left / width, bottom / height, across / width, panels.axes_height(panel) / height))
    panels.draw(axes, panel, language, is_page=is_page)


def _lines(words: Message, width: float, character: float, language: Language) -> Sequence[str]:
    """Return the text, split into lines that fit into *width* inches."""
    return wrap(language.text(words), int((width - 2 * EDGE) / character), break_on_hyphens=False)


def _made(draw: Callable[[Figure, Language], Any], figure: Figure, language: Language) -> Any:
    try:
        return draw(figure, language)
    except Exception as error:
        return failure(error)


def _drawn(figures: Sequence[Figure], language: Language) -> dict[str, Drawn]:
    """Draw the image files of all figures, while a forked process draws the panels of the HTML page."""
    reading, writing = os.pipe()
    if not os.fork():
        os.close(reading)  # or this process could wait for a reader after its parent has ended
        with open(writing, "wb") as answer:
            pickle.dump([_made(page_panels, figure, language) for figure in figures], answer)
        os._exit(0)
    os.close(writing)
    all_made = [_made(files, figure, language) for figure in figures]
    with open(reading, "rb") as answer:
        all_panels = pickle.load(answer)
    parts = zip(figures, all_panels, all_made, strict=True)
    return {figure.key: Drawn(panels=shown, files=made) for figure, shown, made in parts}


def main() -> None:
    """Draw the figures that the parent process sends on stdin. Exit if stdin is empty, because the parent has ended."""
    if asked := sys.stdin.buffer.read():
        figures, name = pickle.loads(asked)
        drawn = _drawn(figures, language(name))
        with suppress(BrokenPipeError):
            sys.stdout.buffer.write(pickle.dumps(drawn))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
