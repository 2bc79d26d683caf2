"""A document as one HTML page that needs nothing else. The templates know tables, figures and sentences, no topic."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from core.languages import Language
from core.messages import Arg, Message, message
from core.printable import Printable, printable, with_printable_args
from reports.document.drawing import COUNT, DARK, LIGHT
from reports.document.model import Column, Datum, Document, Figure, Table, Traced
from reports.render.strips import drawn

TEMPLATES = Path(__file__).resolve().parent / "templates"
HTML_LANGUAGES = {"zh": "zh-Hans"}
_START, _BETWEEN, _END = "\ue000", "\ue001", "\ue002"
_PIECES = re.compile(f"({_START}[^{_BETWEEN}]*{_BETWEEN}[^{_BETWEEN}]*{_BETWEEN})|({_END})|([^{_START}{_END}]+)")
_PANEL = re.compile(f"{_START}([^{_BETWEEN}{_END}]*){_BETWEEN}([0-9]+){_END}")


class _Linking(Language):
    """Texts of a language in which the words that come from cells are between signs, to become links."""

    def __init__(self, language: Language) -> None:
        super().__init__(language.name, language.catalog)

    def text(self, value: Arg) -> str:
        plain = super().text(with_printable_args(value) if isinstance(value, Message) else value)
        if not isinstance(value, Traced):
            return plain
        return f"{_START}{value.cells}{_BETWEEN}{value.figure}{_BETWEEN}{plain}{_END}"


def page(
    document: Document,
    language: Language,
    template: str = "page.html",
    panels: Callable[[Figure], list[tuple[str, str]]] | None = None,
) -> str:
    """Return the document as HTML. Whatever it holds is escaped here, once.

    panels: returns title and SVG of each panel of a figure; by default they are drawn in this process
    """
    words = _Words(language, has_cells=document.has_cells)
    made: str = (
        _environment()
        .get_template(template)
        .render(
            document=replace(document, name=printable(document.name)),
            lang=HTML_LANGUAGES.get(language.name, language.name),
            words=words,
            colours={"light": LIGHT, "dark": DARK},
        )
    )
    drawn = {figure.key: (panels or words.drawn_here)(figure) for figure in words.figures}
    return _PANEL.sub(lambda match: drawn[match[1]][int(match[2])][1], made)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class _Words:
    """What the templates ask for: everything of a document as mark-up in one language."""

    def __init__(self, language: Language, *, has_cells: bool) -> None:
        self.language = Printable(language)
        self._has_cells = has_cells
        self._linking = _Linking(language)
        self.figures: list[Figure] = []

    def text(self, words: Message) -> Markup:
        """Words without links, whose long names may break behind an underscore."""
        return soft(self.language.text(words))

    def plain(self, words: Message) -> str:
        """Words for an attribute."""
        return self.language.text(words)

    def linked(self, words: Message) -> Markup:
        """Words in which those that come from cells lead there."""
        return _links(self._linking.text(words), is_linked=self._has_cells)

    def cell(self, datum: Datum, tag: str, column: Column | None = None, more: str = "") -> Markup:
        """Return a cell of a table. column: its column if the cell is in one; more: attributes of the template."""
        is_number = column is not None and column.is_number
        return Markup(f"<{tag}{more}{self._attributes(datum, is_number)}>{self.datum(datum)}</{tag}>")

    def datum(self, datum: Datum) -> Markup:
        """Return what a cell of a table shows."""
        if datum.strip is not None:
            return drawn(datum.strip)
        text = datum.text(self.language)
        if datum.code:
            return unbroken(text)
        named = str(soft(text))
        if datum.state.startswith("word "):
            mark, _, word = text.partition(" ")
            named = f'<span aria-hidden="true">{escaped(mark)}</span><span class="long"> {escaped(word)}</span>'
        elif datum.look is not None:
            named = sign(datum.look) + named
        if datum.leads and datum.cells and self._has_cells:
            return Markup(f'<a href="#cells" data-show="{escaped(datum.cells)}">{named}</a>')
        return Markup(named)

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

    def heading(self, column: Column) -> Markup:
        """The scale above the strips of a column."""
        assert column.strip is not None
        return drawn(replace(column.strip, tip=column.strip.tip or self.language.text(column.head)))

    def choices(self, table: Table, column: int) -> list[str]:
        """The different texts of a column, to choose from."""
        return list(dict.fromkeys(line[column].text(self.language) for line in table.lines))

    def json(self, value: Any) -> Markup:
        """A value for a script of the page to read: nothing in it ends the element."""
        return htmlsafe_json_dumps(value, separators=(",", ":"))

    def panels(self, figure: Figure) -> list[tuple[str, Markup]]:
        """Return the title of each panel, and what its drawing replaces when the rest of the page is made."""
        self.figures.append(figure)
        titles = [self.language.text(panel.title) for panel in figure.panels if panel.curves]
        return [(title, Markup(f"{_START}{figure.key}{_BETWEEN}{place}{_END}")) for place, title in enumerate(titles)]

    def drawn_here(self, figure: Figure) -> list[tuple[str, str]]:
        """Return title and SVG of each panel."""
        from reports.render import figures  # matplotlib takes long to import, and a second process may draw

        return figures.page_panels(figure, self.language)

    def of_page(self, key: str) -> Markup:
        """One of the page's own few texts."""
        return self.text(OF_PAGE[key])


OF_PAGE = {
    "skip": message("Skip to the verdict"),
    "contents": message("Contents"),
    "data": message("The figures"),
    "filter": message("Filter by text"),
    "any": message("any"),
    "show_all": message("Show all"),
    "shown": message("{shown} of {all} cells"),
}


@cache
def escaped(text: str) -> str:
    """Return text without mark-up. The same few thousand texts stand in all tables, so each is escaped once."""
    return str(escape(text))


@cache
def soft(text: str) -> Markup:
    """Return text whose long names may break behind an underscore."""
    return Markup(escaped(text).replace("_", "_<wbr>"))


def unbroken(command: str) -> Markup:
    """Return a command whose words stay whole, because a flag that breaks at its hyphen is hard to read."""
    return Markup(f"<code>{' '.join(f'<span>{escaped(word)}</span>' for word in command.split())}</code>")


@cache
def sign(look: int) -> Markup:
    """Return an arm's marker, which stands beside its name."""
    place = look % COUNT
    return Markup(
        '<svg class="sign" width="12" height="12" aria-hidden="true" focusable="false">'
        f'<use href="#m{place}" x="6" y="6" class="mark r{place}"/></svg>'
    )


def _links(text: str, *, is_linked: bool) -> Markup:
    """Return text with a link for each part that comes from cells. Of parts within each other the outer one leads."""
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
