"""The words of a page's table cells, as a screen reader and a narrow screen have them."""

from core.languages import ENGLISH
from core.messages import NOTHING, verbatim
from reports.document import Datum, Document, Section, words
from reports.render.html import page
from reports.tables import col, table
from tests.tables import each_row


@each_row
def test_only_the_sign_of_a_verdict_is_hidden_from_screen_readers(text: str, shown: str) -> None:
    def verdict(_: str) -> Datum:
        return words(verbatim(text), state="word faster")

    tables = (table(verbatim("Routes"), [col("Verdict", verdict)], [(NOTHING, ["GET /"])]),)
    section = Section(key="routes", title=verbatim("Routes"), tables=tables)
    made = page(Document(name="run", title=verbatim("run"), about=(), sections=(section,)), ENGLISH)
    assert f">{shown}</th>" in made  # the only column heads its line
