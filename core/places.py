"""Placeholders in the requests of a plan, such as {{user}}. Each virtual user replaces them with its own values."""

import re
from typing import NamedTuple

COUNTER, USER, UUID, INT = "counter", "user", "random.uuid", "random.int"
PLACE = re.compile(
    rb"\{\{ *(?:(random\.int) +(-?[0-9]{1,9}) +(-?[0-9]{1,9})|(counter|user|random\.uuid|[A-Za-z_][A-Za-z0-9_]*)) *\}\}"
)


class Place(NamedTuple):
    """A placeholder in a request, for a generated or a saved value.

    low, high: the bounds of random.int
    """

    name: str
    low: int = 0
    high: int = 0


def places(text: bytes, saved: frozenset[str] | None = None) -> list[bytes | Place]:
    """Split a text at its placeholders.

    saved: the names of saved values; if None, any name is a placeholder
    """
    parts: list[bytes | Place] = []
    end = 0
    for match in PLACE.finditer(text):
        name = (match[1] or match[4]).decode()
        if match[1] or saved is None or name in saved or name in (COUNTER, USER, UUID):
            parts += text[end : match.start()], Place(name, int(match[2] or 0), int(match[3] or 0))
            end = match.end()
    return [*parts, text[end:]]
