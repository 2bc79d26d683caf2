"""Sentences of the page in pieces, so that each figure in them can name its cells. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import Formatter


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a sentence. cells: the groups of cells that it comes from; figure: which of their figures it is."""

    text: str
    cells: str = ""
    figure: str = ""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """Pieces that are read together. cells: the groups that a link behind it shows; empty for no link."""

    pieces: tuple[Piece, ...]
    cells: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(one.text for one in self.pieces)


def filled(template: str, **values: Piece | str) -> tuple[Piece, ...]:
    """A template with its {names} filled in: plain texts, or pieces that keep their cells."""
    made: list[Piece] = []
    for text, name, _, _ in Formatter().parse(template):
        made += [Piece(text=text)] if text else []
        if name is not None:
            value = values[name]
            made.append(value if isinstance(value, Piece) else Piece(text=value))
    return tuple(made)


def together(groups: Iterable[str]) -> str:
    """Groups of cells of several figures, each once."""
    return " ".join(dict.fromkeys(one for some in groups for one in some.split()))
