"""matplotlib's SVG as a part of a page: in the page's colours and letters, without what only a file needs."""

import re
from html import escape
from urllib.parse import unquote

from reports.document.looks import LIGHT
from reports.render.panels import BARS, LINK

_VARIABLES = {colour: f"var(--{name})" for name, colour in LIGHT.items() if len(colour) == 7}
_COLOUR = re.compile("|".join(_VARIABLES))
_SUPERFLUOUS = (
    (re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL), ""),
    (re.compile(r" font-family: [^;\"]*;|font: [^;\"]*?(?=\d+px)| transform=\"rotate\(-0 [^\"]*\""), ""),
    (re.compile(r'<g id="[^"]*">'), "<g>"),
    (re.compile(r'<g id="[^"]*"/>|<g>\s*</g>'), ""),
    (re.compile(r"\s*\n\s*(?=[A-Za-z<\"])"), ""),
)
_PLACES = re.compile(r' (?:d|x|y)="[^"]*"')
_BARS = re.compile(rf'<g id="{BARS}(\d)">(.*?)</g>', re.DOTALL)
_MARK = re.compile(r'style="fill: var\(--(r\d)\); stroke: var\(--ground\)[^"]*"')


def for_page(svg: str, description: str, kind: str) -> str:
    """An element of a page. Links lead to cells, colours are the page's variables, bars have its patterns.

    kind: its class
    """
    start = svg.index("<svg")
    box = re.search(r'viewBox="([^"]+)"', svg)
    assert box is not None
    inner = svg[svg.index(">", start) + 1 :]
    inner = _BARS.sub(_patterned, inner)
    for superfluous, replacement in _SUPERFLUOUS:
        inner = superfluous.sub(replacement, inner)
    inner = _PLACES.sub(_short, inner)
    inner = re.sub(r'<a xlink:href="([^"]*)"[^>]*>', lambda match: _link(match[1]), inner)
    inner = _COLOUR.sub(lambda match: _VARIABLES[match[0]], inner)
    inner = _MARK.sub(r'class="mark \1"', inner)
    label = escape(description)
    return f'<svg class="{kind}" viewBox="{box[1]}" role="group" aria-label="{label}" focusable="false">{inner}'


def _patterned(bars: re.Match[str]) -> str:
    look = bars[1]
    return re.sub(r'style="[^"]*"', f'class="bar r{look}" fill="url(#p{look})"', bars[2])


def _short(places: re.Match[str]) -> str:
    """Lengths with as many digits as can be seen."""
    return re.sub(r"(\.\d\d)\d+", r"\1", re.sub(r"([MLCz]) ?\n?", r"\1", places[0].replace("\n", "")))


def _link(url: str) -> str:
    """The start of a link that shows the cells of a mark, with its tip."""
    cells, _, quoted = url.removeprefix(LINK).partition("|")
    cells, tip = escape(cells), escape(unquote(quoted))
    return f'<a href="#cells" data-cells="{cells}" tabindex="-1" aria-label="{tip}"><title>{tip}</title>'
