"""Of the names that are accepted, the one that a misspelt word was probably meant for."""

from collections.abc import Iterable
from difflib import get_close_matches

from core.messages import NOTHING, Message, message


def did_you_mean(word: str, names: Iterable[str]) -> Message:
    """A sentence with the nearest of *names*, and a space behind it; nothing where none is near."""
    nearest = get_close_matches(word, [*names], n=1)
    return message("Did you mean {name}? ", name=nearest[0]) if nearest else NOTHING
