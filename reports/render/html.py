"""Render a document as one self-contained HTML page. The templates do not depend on what a section
is about.

reports/write.py and the commands compare and stress call page(). The templates of render/templates/
have the mark-up and the words of the page itself, and call the functions that page() passes to
them. cells.js reads the attributes data-* that they write.
A Datum or text names the cells (measurements) that it comes from, and links to them if the document
has the table of all cells. Everything that reaches Markup must have been escaped before.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from core.languages import Language, Printable, with_printable_args
from core.messages import Arg, Message
from reports.document import COUNT, Document, Figure, Table, Traced

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
    spoken, linking = Printable(language), _Linking(language)

    def text(words: Message) -> Markup:
        """Return a message as mark-up without links. Long names may break after an underscore."""
        return soft(spoken.text(words))

    def linked(words: Message) -> Markup:
        """Return a message as mark-up whose measured values are links to the measurements (cells)
        they come from.
        """
        return _links(linking.text(words), is_linked=document.has_cells)

    def choices(table: Table, column: int) -> Iterable[str]:
        """Return the distinct texts of a table column as the choices of its filter."""
        return dict.fromkeys(line[column].text(spoken) for line in table.lines)

    made: str = (
        environment()
        .get_template("page.html")
        .render(
            _=lambda words: text(Message(msgid=words)),
            choices=choices,
            document=document,
            draw=panels,
            lang=HTML_LANGUAGES.get(language.name, language.name),
            language=spoken,
            linked=linked,
            strips=environment().get_template("strips.html").module,
            text=text,
        )
    )
    return made


@cache
def environment() -> Environment:
    """Return the environment of the templates, which are of HTML pages and of Markdown."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=lambda name: name != "document.md",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # compact JSON for the trees of flame graphs
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    made.globals["count"] = COUNT
    made.filters["soft"] = soft
    return made


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
