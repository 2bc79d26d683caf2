"""Read and write result.json, the file in which a run saves its results.

The file is replaced atomically after every cell, so a run that is killed keeps all finished cells.
The file has one line for its head and one line for each cell. Each line has a checksum, so damage
affects only one cell.

lab/run/experiment.py saves, and everything that reads saved runs calls load(). SEAL, CELLS and END
are in the file, so a change of them or of the order of keys makes saved runs unreadable.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from core.files import put
from core.histogram import Histogram
from core.messages import BadInput, Json, Message, message, verbatim
from core.program import RUNS_FOLDER
from core.user_service import UserService
from record.decode import Misfit, decode_special, decoded, expect_parameters, expect_words, shown
from record.result_parts import Fingerprints, OwnService, Profile
from record.saved_plan import SavedPlan
from record.saved_run import FILE_NAME, SCHEMA, CellResult, Run

CHECKSUM_BYTES = 8  # so a checksum has 16 hex digits
A_TIME = "a time such as 2026-08-01T10:15:00+00:00, or empty"  # what a time must be, for errors
# What stands before a checksum, before the lines of cells, and after them. Readers look for it.
SEAL, CELLS, END = b',"checksum":"', b',"cells":[\n', b"\n]}"
_CELL = msgspec.json.Decoder(CellResult, dec_hook=decode_special)
# find the name of a damaged cell, whose text may not be JSON
_ID, _BLOCK = re.compile(rb'"cell_id":"([ -~]{1,80}?)"'), re.compile(rb'"block":([0-9]{1,9})')


class RunFile:
    """The file result.json of a run. It caches encoded measurements, so a save encodes only new
    measurements.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._cells: list[bytes] = []

    def save(self, run: Run) -> None:
        """Write *run* to result.json, which is replaced atomically, and flush it to disk. Raises
        BadInput.
        """
        self._cells += map(_encode_cell, run.cells[len(self._cells) :])
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            put(self.path, _encode_run(run, self._cells), durable=True)
        except OSError as error:
            raise BadInput(
                "{path} cannot be written: {error}. Choose another folder with --out.",
                path=self.path,
                error=error.strerror,
            ) from error


def to_json(run: Run) -> dict[str, Any]:
    """Return *run* as the plain JSON that its result.json contains."""
    whole: dict[str, Any] = json.loads(_encode_run(run, [*map(_encode_cell, run.cells)]))
    return whole


# ---- text and checksums --------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return *value*, which has types of this package, messages and JSON values, as JSON values
    alone.

    A dataclass's fields that are left out of comparisons are left out here, too.
    """
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, Histogram):
        return value.to_json() if value.count else {}
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value, enc_hook=plain)
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.compare}
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [*map(plain, value)] if isinstance(value, list | tuple) else value


def _checksum(*texts: bytes) -> bytes:
    return blake2b(b"\n".join(texts), digest_size=CHECKSUM_BYTES).hexdigest().encode()


def _with_checksum(value: Json) -> bytes:
    """Encode *value* as JSON and add a checksum as the last key. Numbers that JSON lacks, such as
    NaN, become null.
    """
    try:
        text = msgspec.json.encode(
            value, enc_hook=str.__str__
        )  # for RuntimeName; it refuses what is no str
    except UnicodeEncodeError:  # a file name that is not UTF-8
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(
            "utf-8", "replace"
        )
    return text[:-1] + SEAL + _checksum(text) + b'"}'


def _split_checksum(text: bytes) -> tuple[bytes, bytes]:
    """Split a text that _with_checksum() returned into the JSON text without checksum, and the
    checksum.
    """
    content, _, checksum = text.rpartition(SEAL)
    return content + b"}", checksum.removesuffix(b'"}')


def _encode_cell(cell: CellResult) -> bytes:
    return _with_checksum(plain(cell))


def _checksum_of_cells(cells: Sequence[bytes]) -> str:
    """Return a checksum of the measurements' checksums. It changes if a measurement is removed,
    added or moved.
    """
    return _checksum(*(_split_checksum(cell)[1] for cell in cells)).decode()


def _encode_run(run: Run, cells: Sequence[bytes]) -> bytes:
    """Return the whole text of result.json."""
    head = plain(replace(run, cells=[]))
    del head["cells"]
    return b"".join(
        (
            _with_checksum({**head, "order": _checksum_of_cells(cells)})[:-1],
            CELLS,
            b",\n".join(cells),
            END,
        )
    )


def _split_file(data: bytes) -> tuple[bytes, list[bytes]]:
    """Split a result.json, possibly reformatted, into the text of each measurement and the text of
    everything else.
    """
    start = data.find(CELLS)
    if start >= 0 and data.endswith(END):
        cells = data[start + len(CELLS) : -len(END)].split(b",\n")
        return data[:start] + b"}", [cell for cell in cells if cell]
    whole = msgspec.json.decode(data)
    rest = []
    if isinstance(whole, dict) and isinstance(whole.get("cells"), list):
        rest = whole.pop("cells")
        for added in ("figures", "routes"):  # --json adds them; they are computed from the cells
            whole.pop(added, None)
    return msgspec.json.encode(whole), [msgspec.json.encode(cell) for cell in rest]


# ---- reading -------------------------------------------------------------------------------------


def load(where: Path) -> Run:
    """Read the run saved in *where*: a run's folder, or the file itself. Raises BadInput.

    Damaged cells are left out, and a message in Run.damaged names each of them.
    """
    path = where / FILE_NAME if where.is_dir() else where
    head, stored, cells = _read(path)
    order = stored.pop("order", "")
    run = _decode_head(stored, path)
    run.folder = str(path.parent)
    content, checksum = _split_checksum(head)
    if checksum != _checksum(content):
        raise _damaged(
            path,
            message(
                "the head does not match its checksum (the head is everything except the "
                "measurements)"
            ),
        )
    for number, text in enumerate(cells):
        try:
            run.cells.append(_decode_cell(text, run.plan))
        except Misfit as misfit:
            run.damaged.append(_damage_message(number, text, misfit))
    # a damaged cell is named on its own, and has another checksum anyway
    if not run.damaged and order != _checksum_of_cells(cells):
        raise _damaged(path, message("measurements were removed, added or put in another order"))
    return run


def _read(path: Path) -> tuple[bytes, dict[str, Any], list[bytes]]:
    """Read a result.json. Return all except its measurements, as text and as JSON, and the text of
    each measurement.

    Raises BadInput.
    """
    try:
        head, cells = _split_file(path.read_bytes())
        stored = msgspec.json.decode(head)
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {error}. Give the folder of a run, such as one under {folder}.",
            path=path,
            folder=RUNS_FOLDER,
            error=error.strerror,
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "{path} is not JSON ({error}). Give a result.json that a run wrote.",
            path=path,
            error=error,
        ) from error
    schema = stored.get("schema") if isinstance(stored, dict) else None
    if schema != SCHEMA:
        raise BadInput(
            "{path} has schema {schema}, but this version of gilscope reads schema {known}. "
            "Use the version that wrote the file.",
            path=path,
            schema=shown(schema),
            known=SCHEMA,
        )
    return head, stored, cells


def _damaged(path: Path, what: Message) -> BadInput:
    return BadInput(
        "{path} is damaged: {what}. Restore the file from a copy, or measure again.",
        path=path,
        what=what,
    )


def _decode_head(stored: dict[str, Any], path: Path) -> Run:
    """Decode the head of a result.json: everything except its measurements. Return it as a Run.
    Raises BadInput.
    """
    stored.pop("checksum", None)
    try:
        run = decoded(stored, Run)
        decoded(run.profiles, list[Profile], "profiles")
        decoded(run.fingerprints, Fingerprints, "fingerprints")
        if run.plan.own is not None:
            decoded(run.plan.own, OwnService, "plan.own", all_known=False)
            _read_with("plan.own", run.plan.own, UserService.from_json, "a service")
        for name in ("started_at", "finished_at"):
            if time := getattr(run, name):
                _read_with(name, time, datetime.fromisoformat, A_TIME)
    except Misfit as misfit:
        said = message(
            "{key} is {value}, but must be {wanted}",
            key=misfit.place or "it",
            value=misfit.value,
            wanted=verbatim(misfit.wanted),
        )
        raise _damaged(path, said) from misfit
    return run


def _read_with(place: str, value: Any, reader: Any, wanted: str) -> None:
    """Raise Misfit if *reader* cannot parse *value*."""
    try:
        reader(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Misfit(place, value, f"{wanted} ({error})") from error


def _decode_cell(text: bytes, plan: SavedPlan) -> CellResult:
    """Decode the measurement in *text*. Raises Misfit if the measurement is damaged."""
    content, checksum = _split_checksum(text)
    right = _checksum(content)
    with suppress(ValueError, RecursionError):
        if checksum == right:
            return _check_cell(_CELL.decode(content), plan)
    try:  # slower, but the error names the wrong key
        _check_cell(decoded(msgspec.json.decode(content), CellResult), plan)
    except (ValueError, RecursionError) as error:
        raise Misfit("", content[:40], str(error)) from error
    raise Misfit("checksum", checksum.decode(errors="replace"), right.decode())


def _check_cell(cell: CellResult, plan: SavedPlan) -> CellResult:
    """Check the decoded measurement *cell* for errors that types cannot express, and return *cell*.
    Raises Misfit.
    """
    expect_parameters(cell.params, "params")
    for said in (cell.reason, *cell.disturbances):
        expect_words(said, "reason")
    is_timed = plan.method.duration_s or (plan.user_service and plan.user_service.targets)
    if (
        is_timed and cell.status == "ok" and cell.clients
    ):  # reports compute the time of 1000 requests from these
        if not cell.wall_ns:
            raise Misfit("wall_ns", cell.wall_ns, "at least 1")
        if not 1 <= cell.answered <= 1000 * cell.wall_ns:
            raise Misfit("answered", cell.answered, "from 1 to 1000 for each ns")
    return cell


def _damage_message(number: int, text: bytes, misfit: Misfit) -> Message:
    """Return a message about a damaged measurement, with the measurement's name if the name can
    still be read.
    """
    name, block = (
        (*pattern.findall(text), b"?")[0].decode(errors="replace") for pattern in (_ID, _BLOCK)
    )
    return message(
        "Cell {number} of the file ({id}, block {block}) is damaged and was left out: {key} is "
        "{value}, but must be {wanted}. Measure the cell again with --resume.",
        number=number + 1,
        id=name,
        block=block,
        key=misfit.place or "it",
        value=misfit.value,
        wanted=misfit.wanted,
    )
