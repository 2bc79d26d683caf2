"""Checksums of result.json: of each cell, and of the file, so that nothing in it can be changed, taken out or moved."""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import BadInput
from core.messages import message
from core.shape import shown

CHECKSUM = "checksum"
CHECKSUM_BYTES = 8
DAMAGED = message("Take the file from a copy, or measure again.")


class Sealed(NamedTuple):
    """A cell's JSON text with its checksum as the last key, and that checksum."""

    text: str
    checksum: str


def seal(cell: Mapping[str, Any]) -> Sealed:
    """*cell* in the one text that it has in a file."""
    content = _compact({name: value for name, value in cell.items() if name != CHECKSUM})
    checksum = _checksum(content)
    return Sealed(f'{content[:-1]},"{CHECKSUM}":"{checksum}"}}', checksum)


def file_text(head: Mapping[str, Any], cells: Sequence[Sealed]) -> str:
    """The text of a file, each cell on its own line."""
    content, checksum = _head_text(head, cells)
    lines = ",\n".join(cell.text for cell in cells)
    return f'{content[:-1]},"{CHECKSUM}":"{checksum}","cells":[\n{lines}\n]}}'


def _head_text(head: Mapping[str, Any], cells: Sequence[Sealed]) -> tuple[str, str]:
    """The head's JSON and its checksum, which covers the cells' too: none can be taken out, put in or moved."""
    content = _compact({name: value for name, value in head.items() if name not in ("cells", CHECKSUM)})
    return content, _checksum(content, *(cell.checksum for cell in cells))


def _checksum(*texts: str) -> str:
    return blake2b("\n".join(texts).encode(), digest_size=CHECKSUM_BYTES).hexdigest()


def _compact(value: Any) -> str:
    """JSON of *value* without spaces; null for a number that JSON does not have, such as NaN."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def check_seals(stored: Mapping[str, Any], text: str, path: Path) -> None:
    """Raises BadInput where a checksum does not fit what the file holds, or *text* was changed.

    What says the same in other spaces or line breaks is accepted: a copy that some tool has laid out anew.
    """
    cells = [seal(cell) for cell in stored["cells"]]
    for number, (cell, sealed) in enumerate(zip(stored["cells"], cells, strict=True)):
        _compare(path, f"cells[{number}]", cell, sealed.checksum)
    _compare(path, "", stored, _head_text(stored, cells)[1])
    written = file_text(stored, cells)
    if len(text) == len(written) and text != written:
        place = next(place for place, (here, there) in enumerate(zip(text, written, strict=True)) if here != there)
        raise BadInput("{path} was damaged at byte {place}. {remedy}", path=str(path), place=place, remedy=DAMAGED)


def _compare(path: Path, place: str, stored: Mapping[str, Any], checksum: str) -> None:
    if stored.get(CHECKSUM) == checksum:
        return
    what = message("its head")
    if place:
        what = message("cell {id}, block {block}", id=str(stored.get("cell_id")), block=shown(stored.get("block")))
    raise BadInput(
        "{path} was damaged or edited: {what}: {key} is {value}, by its content {checksum}. {remedy}",
        path=str(path),
        what=what,
        key=f"{place}.{CHECKSUM}".removeprefix("."),
        value=shown(stored.get(CHECKSUM)),
        checksum=checksum,
        remedy=DAMAGED,
    )
