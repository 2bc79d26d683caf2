"""Render a document as one self-contained HTML page. The templates do not depend on what a section
is about.

reports/write.py and the commands compare and stress call page(). The templates of render/templates/
have the mark-up and the words of the page itself, and call the functions that page() passes to
them. cells.js reads the attributes data-* that they write.
A Datum or text names the cells (measurements) that it comes from, and links to them if the document
has the table of all cells. Everything that reaches Markup must have been escaped before.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from core.languages import Language, Printable, with_printable_args
from core.messages import Arg, Message
from reports.document import COUNT, Document, Figure, Table, Traced

TEMPLATES = Path(__file__).resolve().parent / "templates"
# How _Linking writes a value: its cells, the name of its figure, and its text, between characters
# that with_printable_args() takes out of foreign texts.
_VALUE = re.compile("\ue000([^\ue001]*)\ue001([^\ue001]*)\ue001([^\ue002]*)\ue002")


class _Linking(Language):
    """A translator that also marks the values from measurements in a text, so that the page can
    make them links. Of a value that contains another one, only the outer one is marked.
    """

    def text(self, value: Arg) -> str:
        plain = super().text(with_printable_args(value) if isinstance(value, Message) else value)
        if not isinstance(value, Traced):
            return plain
        inner = _VALUE.sub(r"\3", plain)
        return f"\ue000{value.cells}\ue001{value.figure}\ue001{inner}\ue002"


def page(
    document: Document, language: Language, panels: Callable[[Figure], list[str]] | None = None
) -> str:
    """Return the document as an HTML page. Only this module escapes texts for HTML.

    panels: returns each panel of a figure as SVG; by default panels are drawn in this process
    """
    if panels is None:
        from reports.render import figures  # matplotlib is slow to import

        panels = partial(figures.page_panels, language=language)
    spoken, linking = Printable(language), _Linking(language.name, language.catalog)

    def text(words: Message) -> Markup:
        """Return a message as mark-up without links. Long names may break after an underscore."""
        return soft(spoken.text(words))

    def pieces(words: Message) -> Iterable[Sequence[str]]:
        """Return a message in pieces: a text, and the cells, the figure and the text of the value
        from measurements that stands behind it. These three are empty at the end.
        """
        parts = [*_VALUE.split(linking.text(words)), "", "", ""]
        return zip(*(parts[place::4] for place in range(4)), strict=True)

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
            language=spoken,
            pieces=pieces,
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
def soft(text: str) -> Markup:
    """Return text as mark-up in which long names may break after an underscore. The result is
    cached, because the same texts occur in many tables.
    """
    return Markup(str(escape(text)).replace("_", "_<wbr>"))
