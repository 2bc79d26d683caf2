"""result.json: the one file a run leaves, written anew after every cell by replace, so that a kill loses nothing.

The file has one line for its head and one line for each cell. Each line has a checksum, so damage costs one cell and
not the file. core.record declares the keys; docs/result.md lists them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import msgspec

from core import record
from core.cell import PARAMETERS
from core.decode import Misfit, decoded, shown
from core.errors import BadInput
from core.files import put
from core.histogram import Histogram
from core.messages import NOTHING, Message, message, verbatim
from core.saved import SavedPlan

FILE_NAME = "result.json"
SCHEMA = 4
CHECKSUM_BYTES = 8
MOST_SEED = 2**64
SEAL, CELLS, END = b',"checksum":"', b',"cells":[\n', b"\n]}"
COMPARISONS = "comparisons.json"
PROFILES = "profiles"  # a folder
PLOTS = "plots"  # the folder of a report's figures
NOT_TRIED = "not_tried"  # code of the reason of a cell that was left out because its service never starts

# What can disturb a measurement, by the code of the messages in CellResult.disturbances.
DISTURBANCES: dict[str, Message] = {
    "load": message("load"),
    "cpu_pressure": message("CPU pressure"),
    "other_processes": message("other processes"),
    "steal": message("CPU steal"),
    "swapping": message("swapping"),
    "throttling": message("throttling"),
    "quota": message("held by the quota"),
    "memory_pressure": message("memory pressure"),
}

Status = Literal["ok", "failed", "invalid"]


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What one cell gave in one block. errors counts by code; latency, connect and waiting are Histogram.to_json().

    waiting: from sending a request until its handler began, of one request in 64. calc_ns: sum over the requests.
    slices: answers by time, {width_ns, start_ns, counts}: slices in turn; the first began start_ns after the release,
    or before it. Empty where a client does not say. machine: quiet.between() of the timed window
    others: what other processes used meanwhile, by host ("" where there are none): cores, window_ns, share (of these
    cores), busiest and neighbours (shares by name).
    slow: {percentile: its slower requests, and how many overlap a collection of their service}, where both are known
    reason: why its status is not ok. disturbances: what on the machine disturbed it; each has a code.
    client_runtime: the clients' runtime.

    wall_ns: first release to last answer; 0 where the cell failed before. start_ns: spawn to all ready;
    overhead_ns: the whole cell less wall_ns.
    hosts: by name, of each that took part: its clock against ours, its release, what disturbed it; empty without hosts
    code, environment: ids in Run.fingerprints of what it was measured with
    """

    cell_id: str
    system: str
    runtime: str
    arm: str
    block: record.Count
    params: record.Parameters
    status: Status
    reason: Message = NOTHING
    wall_ns: record.Count = 0
    start_ns: record.Count = 0
    overhead_ns: record.Count = 0
    requests: record.Count = 0
    answered: record.Count = 0
    wrong: record.Count = 0
    errors: dict[str, record.Count] = field(default_factory=dict)
    latency: record.Summary = field(default_factory=record.Summary)
    connect: record.Summary = field(default_factory=record.Summary)
    waiting: record.Summary = field(default_factory=record.Summary)
    slow: dict[str, record.Slow] = field(default_factory=dict)
    slices: record.Slices = field(default_factory=record.Slices)
    machine: dict[str, record.Number | None] = field(default_factory=dict)
    others: dict[str, record.Others] = field(default_factory=dict)
    calc_ns: record.Count = 0
    client_runtime: str = ""
    disturbances: list[Message] = field(default_factory=list)
    clients: list[record.Client] = field(default_factory=list)
    services: list[record.Service] = field(default_factory=list)
    hosts: dict[str, record.CellHost] = field(default_factory=dict)
    code: str = ""
    environment: str = ""


@dataclass(kw_only=True)
class Run:
    """One execution of a plan, as far as it has come. What is no dataclass is plain JSON values.

    missing: of each runtime that was asked for and is not here, what to do about it
    fingerprints: what the cells were measured with (core.fingerprint)
    damaged: what a file was found to have lost when it was read; not saved
    """

    run_id: str
    started_at: str
    seed: int
    command: list[str]
    plan: dict[str, Any]
    machine: dict[str, Any]
    runtimes: dict[str, dict[str, Any]]
    missing: dict[str, Message] = field(default_factory=dict)
    finished_at: str = ""
    spent_ns: dict[str, int] = field(default_factory=dict)
    cells: list[CellResult] = field(default_factory=list)
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    profiles: list[dict[str, Any]] = field(default_factory=list)
    fingerprints: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    damaged: list[Message] = field(default_factory=list, compare=False)

    @property
    def failed_cells(self) -> list[CellResult]:
        """Cells that failed or are invalid, in the order in which they ran."""
        return [cell for cell in self.cells if cell.status != "ok"]


class RunFile:
    """result.json in a run's folder. Keeps every cell's JSON text, so that a save encodes only what is new."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._cells: list[bytes] = []

    def __repr__(self) -> str:
        return f"RunFile({str(self.path)!r}, {len(self._cells)} cells)"

    def save(self, run: Run) -> None:
        """Write *run* beside the file, flush it to disk, and put it in the file's place. Raises BadInput."""
        self._cells += [_sealed(_encoded(_cell_to_json(cell))) for cell in run.cells[len(self._cells) :]]
        _put(self.path, _text(_head_to_json(run), self._cells))


def to_json(run: Run) -> dict[str, Any]:
    """*run* as its file holds it."""
    cells = [_sealed(_encoded(_cell_to_json(cell))) for cell in run.cells]
    whole: dict[str, Any] = json.loads(_text(_head_to_json(run), cells))
    return whole


def _head_to_json(run: Run) -> dict[str, Any]:
    head = {name: value for name, value in vars(run).items() if name not in ("cells", "damaged")}
    return {**head, "missing": {name: remedy.to_json() for name, remedy in run.missing.items()}}


def _cell_to_json(cell: CellResult) -> dict[str, Any]:
    disturbances = [one.to_json() for one in cell.disturbances]
    return {**vars(cell), "reason": cell.reason.to_json(), "disturbances": disturbances}


# ---- text and checksums ----------------------------------------------------------------------------------------------


def _encoded(value: Mapping[str, Any]) -> bytes:
    """The one JSON text that *value* has in a file; null for a number that JSON does not have, such as NaN."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # a file name that is not UTF-8
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def _checksum(*texts: bytes) -> bytes:
    return blake2b(b"\n".join(texts), digest_size=CHECKSUM_BYTES).hexdigest().encode()


def _sealed(text: bytes) -> bytes:
    """An object's text with its checksum as the last key."""
    return text[:-1] + SEAL + _checksum(text) + b'"}'


def _opened(text: bytes) -> tuple[bytes, bytes]:
    """The text that was sealed, and the checksum that stands in it, which may be another."""
    content, _, checksum = text.rpartition(SEAL)
    return content + b"}", checksum[:-2]


def _text(head: Mapping[str, Any], cells: Sequence[bytes]) -> bytes:
    """The text of a file. The head has a checksum of the cells' own: none can be taken out, put in or moved."""
    order = _checksum(*(_opened(cell)[1] for cell in cells)).decode()
    sealed = _sealed(_encoded({**head, "order": order}))
    return sealed[:-1] + CELLS + b",\n".join(cells) + END


def _parts(data: bytes, path: Path) -> tuple[bytes, list[bytes]]:
    """The sealed texts of the head and of each cell, also of a copy that some tool has laid out anew."""
    head, found, cells = data.partition(CELLS)
    if found and cells.endswith(END):
        return head + b"}", [cell for cell in cells[: -len(END)].split(b",\n") if cell]
    whole = _json(data, path)
    rest = whole.pop("cells", [])
    if not isinstance(rest, list):
        raise _misfit(path, Misfit("cells", rest, "a list of cells"))
    return msgspec.json.encode(whole), [msgspec.json.encode(cell) for cell in rest]


# ---- comparisons beside the file -------------------------------------------------------------------------------------


def keep_comparisons(where: Path, run: Run) -> None:
    """Write the comparisons of *run* beside the file that it was read from, which is its measurer's alone.

    load() takes them where the file still has these cells. Raises BadInput.
    """
    kept = {"run_id": run.run_id, "cells": len(run.cells), "comparisons": run.comparisons}
    _put(_path(where).with_name(COMPARISONS), _sealed(_encoded(kept)))


def _with_kept_comparisons(run: Run, path: Path) -> Run:
    """*run* with what keep_comparisons() wrote, where that is of these cells; a damaged file is made again."""
    try:
        text, checksum = _opened(path.with_name(COMPARISONS).read_bytes())
        kept = msgspec.json.decode(text)
        if checksum == _checksum(text) and (kept["run_id"], kept["cells"]) == (run.run_id, len(run.cells)):
            decoded(kept["comparisons"], list[record.Comparison])
            run.comparisons = kept["comparisons"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, Misfit):
        pass
    return run


def _put(path: Path, text: bytes) -> None:
    """Put *text* on the disk at *path*. Raises BadInput."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, text, durable=True)
    except OSError as error:
        raise BadInput(
            "{path} cannot be written: {error}; name another folder with --out.", path=str(path), error=error.strerror
        ) from error


# ---- reading ---------------------------------------------------------------------------------------------------------


def load(where: Path) -> Run:
    """The run saved in *where*: its folder, or the file itself. Raises BadInput.

    A cell that was damaged is left out and named in Run.damaged.
    """
    path = _path(where)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {error}; name a run's folder (they are under reports/out).",
            path=str(path),
            error=error.strerror,
        ) from error
    head, cells = _parts(data, path)
    run, order = _head(head, path)
    for number, text in enumerate(cells):
        try:
            run.cells.append(_cell(text, run.plan))
        except Misfit as misfit:
            run.damaged.append(_left_out(number, text, misfit))
    if not run.damaged and order != _checksum(*(_opened(cell)[1] for cell in cells)).decode():
        raise _damaged(path, message("cells were taken out, put in or moved"))
    return _with_kept_comparisons(run, path)


def _path(where: Path) -> Path:
    return where / FILE_NAME if where.is_dir() else where


def _json(data: bytes, path: Path) -> dict[str, Any]:
    """The object that *data* holds. Raises BadInput."""
    try:
        stored = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "{path} is not JSON ({error}); it must be a result.json that a run wrote.", path=str(path), error=str(error)
        ) from error
    return stored if isinstance(stored, dict) else {}


def _head(text: bytes, path: Path) -> tuple[Run, str]:
    """The run without its cells, and the checksum of theirs. Raises BadInput."""
    stored = _json(text, path)
    if stored.get("schema") != SCHEMA:
        raise BadInput(
            "{path} has schema {schema}; this version reads schema {known}. Read it with the gilscope that wrote it.",
            path=str(path),
            schema=shown(stored.get("schema")),
            known=SCHEMA,
        )
    content, checksum = _opened(text)
    order = stored.pop("order", "")
    stored.pop("checksum", None)
    try:
        run = Run(**_head_values(decoded(stored, record.Head)))
        _check_head(run)
    except Misfit as misfit:
        raise _misfit(path, misfit) from misfit
    if checksum != _checksum(content):
        raise _damaged(path, message("its head does not fit its checksum"))
    return run, str(order)


def _head_values(head: record.Head) -> dict[str, Any]:
    missing = {name: Message.from_json(remedy) for name, remedy in head.get("missing", {}).items()}
    return {**head, "missing": missing}


def _check_head(run: Run) -> None:
    """Raises Misfit for what types do not say."""
    for name in ("started_at", "finished_at"):
        _check(name, getattr(run, name), datetime.fromisoformat, "a time such as 2026-08-01T10:15:00+00:00, or empty")
    parts = {"own": record.UserService | None, "layout": record.Layout | None}
    for name, kind in parts.items():
        try:
            decoded(run.plan.get(name), kind, all_known=False)  # type: ignore[arg-type]
        except Misfit as misfit:
            misfit.place = f"plan.{name}.{misfit.place}".strip(".")
            raise
    _check("plan", run.plan, SavedPlan.from_json, "a plan")
    if run.seed > MOST_SEED:
        raise Misfit("seed", run.seed, f"at most {MOST_SEED}")
    for number, comparison in enumerate(run.comparisons):
        for part in (comparison, *comparison.get("settings", ())):
            _check_parameters(f"comparisons[{number}].params", part.get("params", {}))
    for number, profile in enumerate(run.profiles):
        _check_parameters(f"profiles[{number}].params", profile.get("params", {}))
        _check_depth(f"profiles[{number}].tree", profile.get("tree"))
    for number, row in enumerate(run.plan["rows"]):
        _check_parameters(f"plan.rows[{number}].params", row["params"])


def _check_depth(place: str, tree: Mapping[str, Any] | None) -> None:
    level, depth = [tree] if tree else [], 0
    while level:
        level, depth = [child for node in level for child in node.get("children", ())], depth + 1
        if depth > record.DEEPEST_STACK:
            raise Misfit(place, tree, f"a tree of at most {record.DEEPEST_STACK} levels")


def _check(place: str, value: Any, reader: Any, wanted: str) -> None:
    """Raises Misfit where *reader* cannot make anything of *value*."""
    try:
        if value:
            reader(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Misfit(place, value, f"{wanted} ({error})") from error


def _cell(text: bytes, plan: Mapping[str, Any]) -> CellResult:
    """Raises Misfit."""
    content, checksum = _opened(text)
    try:
        if checksum != _checksum(content):
            raise Misfit("checksum", checksum.decode(errors="replace"), _checksum(content).decode())
        cell = _CELL.decode(content)
    except (ValueError, RecursionError, Misfit) as error:
        raise _why(content, error) from error
    _check_cell(cell, plan)
    return cell


_CELL = msgspec.json.Decoder(CellResult)


def _why(text: bytes, error: Exception) -> Misfit:
    """What of a cell does not fit, by name if its JSON can still be read."""
    try:
        _check_cell(decoded(msgspec.json.decode(text), CellResult), {})
    except Misfit as misfit:
        return misfit
    except (ValueError, RecursionError):
        pass
    return error if isinstance(error, Misfit) else Misfit("", text[:40], str(error))


def _check_cell(cell: CellResult, plan: Mapping[str, Any]) -> None:
    """Raises Misfit for what types do not say."""
    for name in ("latency", "connect", "waiting"):
        summary = getattr(cell, name)
        _check(name, summary, Histogram.check, "a histogram")
        if summary.get("count") and not {"mean_ns", "p50_ns"} <= summary.keys():
            raise Misfit(name, summary, "a histogram with mean_ns and p50_ns")
    _check_parameters("params", cell.params)
    try:
        str(cell.reason), [str(one) for one in cell.disturbances]
    except (KeyError, ValueError, IndexError, TypeError, RecursionError):
        raise Misfit("reason", cell.reason.msgid, "a message whose arguments fit it") from None
    is_timed = plan.get("method", {}).get("duration_s") or (plan.get("own") or {}).get("targets")
    if is_timed and cell.status == "ok" and cell.clients:  # the time of 1000 requests is worked out from these
        if not cell.wall_ns:
            raise Misfit("wall_ns", cell.wall_ns, "at least 1")
        if not 1 <= cell.answered <= 1000 * cell.wall_ns:
            raise Misfit("answered", cell.answered, "from 1 to 1000 for each ns")


def _check_parameters(place: str, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        known = PARAMETERS.get(name)
        may_be_absent = known is None or (value is None and (known.optional or known.same_as))
        if known and not may_be_absent and not known.accepts(value):
            raise Misfit(f"{place}.{name}", value, str(known.accepted))


def _left_out(number: int, text: bytes, misfit: Misfit) -> Message:
    """What is said of a cell that was damaged: by its name, if that can still be read."""
    found = (_ID.search(text), _BLOCK.search(text))
    name, block = (match[1].decode(errors="replace") if match else "?" for match in found)
    return message(
        "Cell {number} in the file ({id}, block {block}) is damaged and left out: {key} is {value}, which should be "
        "{wanted}. --resume measures it again.",
        number=number + 1,
        id=name,
        block=block,
        key=misfit.place or "it",
        value=misfit.value,
        wanted=misfit.wanted,
    )


_ID, _BLOCK = re.compile(rb'"cell_id":"([ -~]{1,80}?)"'), re.compile(rb'"block":([0-9]{1,9})')


def _misfit(path: Path, misfit: Misfit) -> BadInput:
    return _damaged(
        path,
        message(
            "{key} is {value}; {wanted}", key=misfit.place or "it", value=misfit.value, wanted=verbatim(misfit.wanted)
        ),
    )


def _damaged(path: Path, what: Message) -> BadInput:
    return BadInput(
        "{path} is not a whole result.json: {what}. Take the file from a copy, or measure again.",
        path=str(path),
        what=what,
    )
