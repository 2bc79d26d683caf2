"""What a section of the page holds: plots with their caption and their figures as a table. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.page.panels import Panel, draw
from reports.page.svg import Html
from reports.page.tables import Table


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels of one kind. key: its id on the page; head: above it, or empty; table: the figures behind it."""

    key: str
    caption: str
    panels: tuple[Panel, ...]
    table: Table
    head: str = ""

    @property
    def drawn(self) -> Sequence[tuple[str, str, Html | None]]:
        """Title, note and drawing of each panel; no drawing where there is nothing to draw."""
        return [(one.title, one.note, draw(one) if one.curves else None) for one in self.panels]
