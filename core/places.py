"""Places in the requests of a plan, such as {{user}}, which are filled in for each request of a virtual user."""

import re
from typing import NamedTuple

COUNTER, USER, UUID, INT = "counter", "user", "random.uuid", "random.int"
PLACE = re.compile(
    rb"\{\{ *(?:(random\.int) +(-?[0-9]{1,9}) +(-?[0-9]{1,9})|(counter|user|random\.uuid|[A-Za-z_][A-Za-z0-9_]*)) *\}\}"
)


class Place(NamedTuple):
    """A generated or saved field; low and high are of random.int."""

    name: str
    low: int = 0
    high: int = 0


def places(text: bytes, saved: frozenset[str] | None = None) -> list[bytes | Place]:
    """Split a text at its places. saved: names that requests save; with None, any name is a place."""
    parts: list[bytes | Place] = []
    end = 0
    for match in PLACE.finditer(text):
        name = (match[1] or match[4]).decode()
        if match[1] or saved is None or name in saved or name in (COUNTER, USER, UUID):
            parts += text[end : match.start()], Place(name, int(match[2] or 0), int(match[3] or 0))
            end = match.end()
    return [*parts, text[end:]]
