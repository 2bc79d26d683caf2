"""A sentence of a report that still knows the cells its figures come from."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.result import CellResult


@dataclass(frozen=True, kw_only=True)
class Told:
    """text: the sentence, in English; cells: what it is about, so that a page can lead there."""

    text: str
    cells: tuple[CellResult, ...] = ()


def texts(some: Sequence[Told]) -> list[str]:
    """The sentences alone."""
    return [one.text for one in some]
