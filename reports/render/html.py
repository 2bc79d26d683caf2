"""Render a document as one self-contained HTML page. The templates do not depend on what a section
is about.

reports/write.py and the commands compare and stress call page(). The templates of render/templates/
call the methods of _Words by name, and cells.js reads the attributes data-* that they write.
A Datum or text names the cells (measurements) that it comes from, and links to them if the document
has the table of all cells. Everything that reaches Markup must have been escaped before.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from core.languages import Language, Printable, with_printable_args
from core.messages import Arg, Message, message
from reports.document.model import COUNT, Column, Datum, Document, Figure, Table, Traced

TEMPLATES = Path(__file__).resolve().parent / "templates"
HTML_LANGUAGES = {"zh": "zh-Hans"}  # attribute lang of the page, if it is not the language's name
# _Linking writes START cells BETWEEN figure BETWEEN text END, and _links() reads it.
# with_printable_args() takes these characters out of foreign texts.
_START, _BETWEEN, _END = "\ue000", "\ue001", "\ue002"
_PIECES = re.compile(
    f"({_START}[^{_BETWEEN}]*{_BETWEEN}[^{_BETWEEN}]*{_BETWEEN})|({_END})|([^{_START}{_END}]+)"
)


class _Linking(Language):
    """A translator that also marks the values from measurements in a text, so that the page can
    make them links.
    """

    def __init__(self, language: Language) -> None:
        super().__init__(language.name, language.catalog)

    def text(self, value: Arg) -> str:
        plain = super().text(with_printable_args(value) if isinstance(value, Message) else value)
        if not isinstance(value, Traced):
            return plain
        return f"{_START}{value.cells}{_BETWEEN}{value.figure}{_BETWEEN}{plain}{_END}"


def page(
    document: Document, language: Language, panels: Callable[[Figure], list[str]] | None = None
) -> str:
    """Return the document as an HTML page. Only this module escapes texts for HTML.

    panels: returns each panel of a figure as SVG; by default panels are drawn in this process
    """
    if panels is None:
        from reports.render import figures  # matplotlib is slow to import

        panels = partial(figures.page_panels, language=language)
    words = _Words(language, panels, has_cells=document.has_cells)
    made: str = (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            lang=HTML_LANGUAGES.get(language.name, language.name),
            language=words.language,
            of_page={key: words.text(text) for key, text in OF_PAGE.items()},
            strips=_strips(),
            words=words,
        )
    )
    return made


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # compact JSON for the trees of flame graphs
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return made


@cache
def _strips() -> Any:
    """Return the template macros that draw strips, which are bars and marks in the lines of a
    table.
    """
    return _environment().get_template("strips.html", globals={"count": COUNT}).module


class _Words:
    """The functions that templates call to turn parts of a document into mark-up in
    one language.
    """

    def __init__(
        self, language: Language, draw: Callable[[Figure], list[str]], *, has_cells: bool
    ) -> None:
        self.language = Printable(language)
        self._draw = draw
        self._has_cells = has_cells
        self._linking = _Linking(language)

    def text(self, words: Message) -> Markup:
        """Return a message as mark-up without links. Long names may break after an underscore."""
        return soft(self.language.text(words))

    def linked(self, words: Message) -> Markup:
        """Return a message as mark-up whose measured values are links to the measurements (cells)
        they come from.
        """
        return _links(self._linking.text(words), is_linked=self._has_cells)

    def cell(self, datum: Datum, tag: str, column: Column | None = None, more: str = "") -> Markup:
        """Return a table cell as an HTML element *tag*.

        column: its column, if any
        more: attributes from the template
        """
        is_number = column is not None and column.is_number
        return Markup(
            f"<{tag}{more}{self._attributes(datum, is_number)}>{self.datum(datum)}</{tag}>"
        )

    def datum(self, datum: Datum) -> Markup:
        """Return the content of a table cell as mark-up."""
        if datum.strip is not None:
            return Markup(_strips().drawing(datum.strip))
        text = datum.text(self.language)
        named = soft(text)
        mark, _, word = text.partition(" ")
        # If the text is a sign, a blank and words (SIGNS in parts/comparison_table.py), narrow
        # screens show only the sign, and screen readers read only the words.
        if datum.state.startswith("word ") and not mark.isalnum():
            named = Markup(
                f'<span aria-hidden="true">{escaped(mark)}</span><span class="long"> '
                f"{escaped(word)}</span>"
            )
        elif datum.look is not None:
            named = sign(datum.look) + named
        if datum.leads and datum.cells and self._has_cells:
            return Markup(f'<a href="#cells" data-show="{escaped(datum.cells)}">{named}</a>')
        return named

    def _attributes(self, datum: Datum, is_number: bool) -> str:
        kinds = ["number" if is_number else "", "plot" if datum.strip else "", datum.state]
        pairs = {
            "class": " ".join(filter(None, kinds)),
            "data-cells": "" if datum.leads and self._has_cells else datum.cells,
            "data-figure": datum.figure,
            "data-raw": datum.raw,
            "title": self.language.text(datum.hint) if datum.hint else "",
        }
        return "".join(f' {name}="{escaped(value)}"' for name, value in pairs.items() if value)

    def choices(self, table: Table, column: int) -> list[str]:
        """Return the distinct texts of a table column as the choices of its filter."""
        return list(dict.fromkeys(line[column].text(self.language) for line in table.lines))

    def panels(self, figure: Figure) -> list[tuple[str, Markup]]:
        """Return the title and the drawing of each panel of a figure."""
        titles = [self.language.text(panel.title) for panel in figure.panels if panel.curves]
        return [*zip(titles, map(Markup, self._draw(figure)), strict=True)]


OF_PAGE = {  # texts of the templates, by their name there
    "skip": message("Skip to the verdict"),
    "contents": message("Contents"),
    "data": message("Data table"),
    "filter": message("Filter by text"),
    "any": message("any value"),
    "show_all": message("Show all"),
    "shown": message("{shown} of {all} cells"),
}


@cache
def escaped(text: str) -> str:
    """Return text escaped for HTML. The result is cached, because the same texts occur in many
    tables.
    """
    return str(escape(text))


@cache
def soft(text: str) -> Markup:
    """Return text as mark-up in which long names may break after an underscore."""
    return Markup(escaped(text).replace("_", "_<wbr>"))


@cache
def sign(look: int) -> Markup:
    """Return the marker of a runtime or service as SVG, for display beside its name.

    look: the index of its style; markers m0 to m7 are in templates/definitions.svg
    """
    place = look % COUNT
    return Markup(
        '<svg class="sign" width="12" height="12" aria-hidden="true" focusable="false">'
        f'<use href="#m{place}" x="6" y="6" class="mark r{place}"/></svg>'
    )


def _links(text: str, *, is_linked: bool) -> Markup:
    """Return text as mark-up in which each value computed from measurements links to these
    measurements.

    If such a value contains another one, only the outer one is a link.
    """
    lead, close = ('a class="lead" href="#cells"', "</a>") if is_linked else ("span", "</span>")
    parts: list[str] = []
    depth = 0
    for start, end, plain in _PIECES.findall(text):
        depth += bool(start) - bool(end)
        if start and depth == 1:
            cells, figure, _ = map(escaped, start[1:].split(_BETWEEN))
            kind = f' data-figure="{figure}"' if figure else ""
            parts.append(f'<{lead} data-cells="{cells}"{kind}>')
        else:
            parts.append(close if end and depth == 0 else soft(plain))
    return Markup("".join(parts))
