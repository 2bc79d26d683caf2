"""How a runtime looks everywhere on the page: a colour, and a marker, a dash and a pattern that stand without it."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.page.svg import Html, joined, tag, text

COUNT = 8
_MARKERS = (
    '<circle r="4"/>',
    '<rect x="-3.6" y="-3.6" width="7.2" height="7.2"/>',
    '<path d="M0-4.8L4.6 3.4H-4.6Z"/>',
    '<path d="M0-5.2L5.2 0L0 5.2L-5.2 0Z"/>',
    '<path d="M0 4.8L4.6-3.4H-4.6Z"/>',
    '<path d="M-1.6-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z"/>',
    '<path d="M-4.6 0A4.6 4.6 0 0 1 4.6 0Z"/>',
    '<path d="M0-5L1.5-1.6L5-1.5L2.2.8L3.1 4.2L0 2.2L-3.1 4.2L-2.2.8L-5-1.5L-1.5-1.6Z"/>',
)
_PATTERNS = (
    "",
    '<path d="M-1 7L7-1M-1 1L1-1M5 7L7 5"/>',
    '<circle cx="1.5" cy="1.5" r="1.1"/><circle cx="4.5" cy="4.5" r="1.1"/>',
    '<path d="M0 0L6 6M6 0L0 6"/>',
    '<path d="M0 1.5H6M0 4.5H6"/>',
    '<path d="M1.5 0V6M4.5 0V6"/>',
    '<path d="M-1-1L7 7M-1 5L1 7M5-1L7 1"/>',
    '<path d="M0 3H6M3 0V6"/>',
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """place: which of the looks. The style sheet has the colours of each, light and dark, and the dashes."""

    place: int

    @property
    def name(self) -> str:
        """Its class in the style sheet."""
        return f"r{self.place}"

    @property
    def fill(self) -> str:
        """The fill of a bar: its pattern."""
        return f"url(#p{self.place})"

    def marker(self, x: str, y: float, tip: str = "", **attributes: str | float | None) -> Html:
        """Its marker. tip: what is told of it when pointed at."""
        told = [tag("title", text(tip))] if tip else []
        return tag("use", *told, href=f"#m{self.place}", x=x, y=y, class_=f"mark {self.name}", **attributes)


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each runtime; those of a run have the same in all of its plots."""
    return {name: Look(place=place % COUNT) for place, name in enumerate(names)}


def definitions() -> Html:
    """The markers and patterns, once for the whole page."""
    markers = [tag("g", Html(shape), id=f"m{place}") for place, shape in enumerate(_MARKERS)]
    patterns = [_pattern(place, Html(lines)) for place, lines in enumerate(_PATTERNS)]
    return tag("defs", joined(markers), joined(patterns))


def _pattern(place: int, lines: Html) -> Html:
    ground = tag("rect", width="6", height="6", class_="ground" if lines else "ground full")
    size = {"width": "6", "height": "6", "patternUnits": "userSpaceOnUse"}
    return tag("pattern", ground, lines, id=f"p{place}", class_=f"pattern r{place}", **size)
