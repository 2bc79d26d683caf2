"""Collect the texts of plans for translation: `make messages` (pyproject.toml names the function)."""

from collections.abc import Iterable, Iterator


def plan_texts(
    file: Iterable[bytes], *_keywords: object, options: object
) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield the description and the titles in a plan file."""
    for number, line in enumerate(file, 1):
        key, _, text = line.decode().strip().partition(": ")
        if key in ("description", "title"):
            yield number, None, text, []
