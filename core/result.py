"""result.json: the one file a run leaves, written anew after every cell by replace, so that a kill loses nothing.

The file has one line for its head and one line for each cell. Each line has a checksum, so damage costs one cell and
not the file. Run and CellResult declare the keys, with core.record; docs/result.md is made from their docstrings.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from core.decode import Misfit, decoded, expect_parameters, expect_words, shown
from core.errors import BadInput
from core.files import put
from core.histogram import Histogram
from core.messages import NOTHING, Message, message, verbatim
from core.record import (
    CellHost,
    Client,
    Comparison,
    Count,
    Fingerprints,
    Number,
    Others,
    OwnService,
    Parameters,
    Profile,
    RuntimeFacts,
    Service,
    Slices,
    Slow,
    Summary,
    Turns,
)
from core.saved import HostFacts, Machine, SavedPlan
from core.user_service import UserService

FILE_NAME = "result.json"
SCHEMA = 4
CHECKSUM_BYTES = 8
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
    """What one cell gave in one block.

    cell_id: name of the cell: system, runtime and a digest of its parameters. The same in every run and on every
        machine
    system: the system's number, or its name where it has none
    runtime: such as `3.14t+gil`; the services'
    client_runtime: the clients'; the same unless `--client-runtime` names one
    arm: under which name it takes part in comparisons: the runtime's, or `3.14t again` for the second arm of A/A
    block: 1, 2, ...
    params: every parameter that the system reads, with its value
    status: `ok`; `failed` (a child ended early, an answer was wrong, missing or an error); `invalid` (the GIL was not
        as the runtime's name says)
    reason: why it is not ok, a message with the end of the child's stderr; `""` if it is. Code `not_ready`: a child did
        not start; `not_tried`: a service that failed to start twice was left out, so there are no figures
    wall_ns: from the release of the first client to the last answer; of a cell in slices the sum of the times whose
        answers count; 0 if it failed before, and without clients
    start_ns: from the start of the first process until all were ready, before any warm-up
    overhead_ns: all of the cell's time but `wall_ns`: starting, connecting, warm-up, stopping; of cells that took turns
        in slices, each has an equal part of the time of all
    requests: how many were to be sent; with a duration, how many were sent
    answered: answers that came, right or not
    wrong: answers with code 200 and a wrong count
    errors: how often each error came, by its code ([child-contract.md](child-contract.md) lists them)
    latency: a histogram of all answers: from sending to the whole answer
    connect: a histogram of the connects that were made while timed; empty if there were none
    waiting: a histogram of one request in 64: from sending until its handler began
        ([decision 012](decisions/012-sampled-waiting.md)); empty if the service does not say
    slices: answers by time: `counts` of successive slices of `width_ns` (50 ms, or more where the cell is long), the
        first of which began `start_ns` after the release, or before it; the first and the last are not whole. Empty
        where a client does not say
    turns: of a cell whose arm took turns with the others in slices of time: how many `slices` it had, `length_ns` and
        `lead_ns` of each, and `idle_cpu_ns`, the CPU time that it used in the `idle_ns` between them; else empty
    machine: [a window](#a-window): the time in which clients were timed, and the few ms that it takes to look
    others: what processes that are neither of the run nor of the measured service used in that window, by host (`""`
        without hosts): `cores` that the run may use, `window_ns`, `share` of these cores' time, `busiest` and
        `neighbours` (shares by name: the three that used most, and those of `--neighbour`, which `share` leaves out);
        empty if the kernel does not say
    slow: of the requests slower than `p99` and `p999`: how many overlap a garbage collection of their service, and what
        their time was made of ([below](#slow-requests)); empty where clients keep no times
    beside: CPU time in ns of each program beside the services while answers counted, by its name; empty without any
    calc_ns: the sum of the counting times that the right answers told: wall time, with whatever interrupted the count
    disturbances: what on the machine disturbed it, a message each; its code is `other_processes`, `steal`, `swapping`,
        `throttling` or `quota` ([machine.md](machine.md))
    clients: one element for each client process; none where NUM_CLIENTS is 0
    services: one element for each service process
    hosts: of a run across hosts, by name of each that took part: `offset_ns` (its clock less ours), `error_ns` (how
        wrong that can be), `released_ns` (when its clients were to begin, on our clock), `late_ns` (how long after it
        the last of them began), `disturbances`; else empty ([hosts.md](hosts.md#time))
    code, environment: ids in `fingerprints` of what it was measured with; empty if it was not tried
    checksum: of the cell
    """

    cell_id: str
    system: str
    runtime: str
    arm: str
    block: Count
    params: Parameters
    status: Status
    reason: Message = NOTHING
    wall_ns: Count = 0
    start_ns: Count = 0
    overhead_ns: Count = 0
    requests: Count = 0
    answered: Count = 0
    wrong: Count = 0
    errors: dict[str, Count] = field(default_factory=dict)
    latency: Summary = field(default_factory=Summary)
    connect: Summary = field(default_factory=Summary)
    waiting: Summary = field(default_factory=Summary)
    slow: dict[str, Slow] = field(default_factory=dict)
    slices: Slices = field(default_factory=Slices)
    turns: Turns = field(default_factory=Turns)
    machine: dict[str, Number | None] = field(default_factory=dict)
    others: dict[str, Others] = field(default_factory=dict)
    beside: dict[str, Count] = field(default_factory=dict)
    calc_ns: Count = 0
    client_runtime: str = ""
    disturbances: list[Message] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    hosts: dict[str, CellHost] = field(default_factory=dict)
    code: str = ""
    environment: str = ""


@dataclass(kw_only=True)
class Run:
    """One execution of a plan, as far as it has come. What is no dataclass is plain JSON values; _PARTS has its types.

    schema: version of this format, 4
    run_id: name of the run: that of its folder
    started_at: when it began, UTC
    finished_at: when its last cell ended, UTC; empty while it has not
    seed: what the random order of the cells comes from
    command: the command line that began it
    plan: what was to be measured
    machine: where
    runtimes: under which interpreters, by runtime; that of the clients too, where it is another
    missing: of each runtime that was asked for and not found, by name, a message that says how to install it
    spent_ns: where the time of the run went: `cells` (measuring, with starting and stopping processes), `report`
    cells: what came of each cell in each block, in the order in which they ran
    comparisons: what was concluded of two arms, written when the run has ended or is reported; empty where there is one
        arm
    fingerprints: what the cells were measured with: `code`, of each state the digest of every file, and `environments`,
        of services and clients each `interpreter`, `packages`, `installed` (a digest of the packages' files) and
        `programs`, by the ids that cells name
    profiles: what was seen in services with `--profile`; else empty
    order: the checksum of the cells' checksums, in their order
    checksum: of all of this but the cells

    A file does not hold `damaged`: what it was found to have lost when it was read.
    """

    run_id: str
    started_at: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    command: list[str]
    plan: dict[str, Any]
    machine: dict[str, Any]
    runtimes: dict[str, dict[str, Any]]
    missing: dict[str, Message] = field(default_factory=dict)
    finished_at: str = ""
    spent_ns: dict[str, Count] = field(default_factory=dict)
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


_PARTS: dict[str, Any] = {
    "plan": SavedPlan,
    "machine": Machine,
    "runtimes": dict[str, RuntimeFacts],
    "comparisons": list[Comparison],
    "profiles": list[Profile],
    "fingerprints": Fingerprints,
}


class RunFile:
    """result.json in a run's folder. Keeps every cell's JSON text, so that a save encodes only what is new."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._cells: list[bytes] = []

    def __repr__(self) -> str:
        return f"RunFile({str(self.path)!r}, {len(self._cells)} cells)"

    def save(self, run: Run) -> None:
        """Write *run* beside the file, flush it to disk, and put it in the file's place. Raises BadInput."""
        self._cells += map(_line, run.cells[len(self._cells) :])
        _put(self.path, _text(run, self._cells))


def to_json(run: Run) -> dict[str, Any]:
    """*run* as its file holds it."""
    whole: dict[str, Any] = json.loads(_text(run, [*map(_line, run.cells)]))
    return whole


# ---- text and checksums ----------------------------------------------------------------------------------------------


def _checksum(*texts: bytes) -> bytes:
    return blake2b(b"\n".join(texts), digest_size=CHECKSUM_BYTES).hexdigest().encode()


def _sealed(value: Mapping[str, Any]) -> bytes:
    """The one JSON text that *value* has in a file, with its checksum as the last key.

    It has null for a number that JSON does not have, such as NaN.
    """
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:  # a file name that is not UTF-8
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    return text[:-1] + SEAL + _checksum(text) + b'"}'


def _opened(text: bytes) -> tuple[bytes, bytes]:
    """The text that was sealed, and the checksum that stands in it, which may be another."""
    content, _, checksum = text.rpartition(SEAL)
    return content + b"}", checksum[:-2]


def _line(cell: CellResult) -> bytes:
    disturbances = [one.to_json() for one in cell.disturbances]
    return _sealed({**vars(cell), "reason": cell.reason.to_json(), "disturbances": disturbances})


def _order(cells: Sequence[bytes]) -> str:
    """The checksum of the cells' own: none can be taken out, put in or moved."""
    return _checksum(*(_opened(cell)[1] for cell in cells)).decode()


def _text(run: Run, cells: Sequence[bytes]) -> bytes:
    """The text of a file."""
    head = {name: value for name, value in vars(run).items() if name not in ("cells", "damaged")}
    head["missing"] = {name: remedy.to_json() for name, remedy in run.missing.items()}
    return b"".join((_sealed({**head, "order": _order(cells)})[:-1], CELLS, b",\n".join(cells), END))


def _parts(data: bytes) -> tuple[bytes, list[bytes]]:
    """The sealed texts of the head and of each cell, also of a copy that some tool has laid out anew."""
    start = data.find(CELLS)
    if start >= 0 and data.endswith(END):
        cells = data[start + len(CELLS) : -len(END)].split(b",\n")
        return data[:start] + b"}", [cell for cell in cells if cell]
    whole = msgspec.json.decode(data)
    has_cells = isinstance(whole, dict) and isinstance(whole.get("cells"), list)
    rest = whole.pop("cells") if has_cells else []
    if has_cells:
        whole.pop("figures", None)  # of --json: made of the cells
    return msgspec.json.encode(whole), [msgspec.json.encode(cell) for cell in rest]


# ---- comparisons beside the file -------------------------------------------------------------------------------------


def keep_comparisons(where: Path, run: Run) -> None:
    """Write the comparisons of *run* beside the file that it was read from, which is its measurer's alone.

    load() takes them where the file still has these cells. Raises BadInput.
    """
    kept = {"run_id": run.run_id, "cells": len(run.cells), "comparisons": run.comparisons}
    _put(_path(where).with_name(COMPARISONS), _sealed(kept))


def _with_kept_comparisons(run: Run, path: Path) -> Run:
    """*run* with what keep_comparisons() wrote, where that is of these cells; a damaged file is made again."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError, Misfit):
        text, checksum = _opened(path.with_name(COMPARISONS).read_bytes())
        kept = msgspec.json.decode(text)
        if checksum == _checksum(text) and (kept["run_id"], kept["cells"]) == (run.run_id, len(run.cells)):
            decoded(kept["comparisons"], list[Comparison])
            run.comparisons = kept["comparisons"]
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
        head, cells = _parts(path.read_bytes())
        stored = msgspec.json.decode(head)
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {error}; name a run's folder (they are under reports/out).",
            path=str(path),
            error=error.strerror,
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "{path} is not JSON ({error}); it must be a result.json that a run wrote.", path=str(path), error=str(error)
        ) from error
    if isinstance(stored, list):
        raise BadInput("{path} is a list, as --json prints of several runs; save the JSON of one run.", path=str(path))
    schema = stored.get("schema") if isinstance(stored, dict) else None
    if schema != SCHEMA:
        raise BadInput(
            "{path} has schema {schema}; this version reads schema {known}. Read it with the gilscope that wrote it.",
            path=str(path),
            schema=shown(schema),
            known=SCHEMA,
        )
    order = stored.pop("order", "")
    run = _head(stored, path)
    content, checksum = _opened(head)
    if checksum != _checksum(content):
        raise _damaged(path, message("its head does not fit its checksum"))
    for number, text in enumerate(cells):
        try:
            run.cells.append(_cell(text, run.plan))
        except Misfit as misfit:
            run.damaged.append(_left_out(number, text, misfit))
    if not run.damaged and order != _order(cells):
        raise _damaged(path, message("cells were taken out, put in or moved"))
    return _with_kept_comparisons(run, path)


def _path(where: Path) -> Path:
    return where / FILE_NAME if where.is_dir() else where


def _damaged(path: Path, what: Message) -> BadInput:
    return BadInput(
        "{path} is not a whole result.json: {what}. Take the file from a copy, or measure again.",
        path=str(path),
        what=what,
    )


def _head(stored: dict[str, Any], path: Path) -> Run:
    """The run without its cells. Raises BadInput."""
    stored.pop("checksum", None)
    own: Any = OwnService | None
    try:
        run = decoded(stored, Run)
        for name, kind in _PARTS.items():
            decoded(getattr(run, name), kind, name)
        decoded(run.machine.get("hosts", {}), dict[str, HostFacts], "machine.hosts")
        decoded(run.plan.get("own"), own, "plan.own", all_known=False)
        _check("plan.own", run.plan.get("own"), UserService.from_json, "a service")
        for name in ("started_at", "finished_at"):
            time = getattr(run, name)
            _check(name, time, datetime.fromisoformat, "a time such as 2026-08-01T10:15:00+00:00, or empty")
    except Misfit as misfit:
        said = message(
            "{key} is {value}; {wanted}", key=misfit.place or "it", value=misfit.value, wanted=verbatim(misfit.wanted)
        )
        raise _damaged(path, said) from misfit
    return run


def _check(place: str, value: Any, reader: Any, wanted: str) -> None:
    """Raises Misfit where *reader* cannot make anything of *value*."""
    try:
        if value:
            reader(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Misfit(place, value, f"{wanted} ({error})") from error


_CELL = msgspec.json.Decoder(CellResult)


def _cell(text: bytes, plan: Mapping[str, Any]) -> CellResult:
    """The cell that *text* holds. Raises Misfit."""
    content, checksum = _opened(text)
    right = _checksum(content)
    with suppress(ValueError, RecursionError):
        if checksum == right:
            return _checked(_CELL.decode(content), plan)
    try:  # the slow way, which names what does not fit
        _checked(decoded(msgspec.json.decode(content), CellResult), plan)
    except (ValueError, RecursionError) as error:
        raise Misfit("", content[:40], str(error)) from error
    raise Misfit("checksum", checksum.decode(errors="replace"), right.decode())


def _checked(cell: CellResult, plan: Mapping[str, Any]) -> CellResult:
    """*cell* itself. Raises Misfit for what types do not say."""
    for name in ("latency", "connect", "waiting"):
        summary = getattr(cell, name)
        _check(name, summary, Histogram.check, "a histogram")
        if summary.get("count") and not {"mean_ns", "p50_ns"} <= summary.keys():
            raise Misfit(name, summary, "a histogram with mean_ns and p50_ns")
    expect_parameters(cell.params, "params")
    for said in (cell.reason, *cell.disturbances):
        expect_words(said, "reason")
    is_timed = plan.get("method", {}).get("duration_s") or (plan.get("own") or {}).get("targets")
    if is_timed and cell.status == "ok" and cell.clients:  # the time of 1000 requests is worked out from these
        if not cell.wall_ns:
            raise Misfit("wall_ns", cell.wall_ns, "at least 1")
        if not 1 <= cell.answered <= 1000 * cell.wall_ns:
            raise Misfit("answered", cell.answered, "from 1 to 1000 for each ns")
    return cell


_ID, _BLOCK = re.compile(rb'"cell_id":"([ -~]{1,80}?)"'), re.compile(rb'"block":([0-9]{1,9})')


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
