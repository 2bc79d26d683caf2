"""result.json: the one file a run leaves, written anew after every cell by replace, so that a kill loses nothing.

The keys are DESIGN section 10's; docs/result.md lists them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NoReturn

from core import result_shape
from core.errors import BadInput
from core.files import put
from core.messages import NOTHING, Message, message
from core.schema import SCHEMA, upgraded
from core.seal import CHECKSUM, DAMAGED, Sealed, check_seals, file_text, seal
from core.shape import Misfit, shown

FILE_NAME = "result.json"
FIRST_WITH_CHECKSUMS = 3
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
    cores), busiest and neighbours (shares by name). Empty in files from before that was kept
    slow: {percentile: its slower requests, and how many overlap a collection of their service}, where both are known
    reason: why its status is not ok. disturbances: what on the machine disturbed it; each has a code.
    client_runtime: the clients' runtime, empty in files from before there was a choice: the service's.

    wall_ns: first release to last answer; 0 where the cell failed before. start_ns: spawn to all ready;
    overhead_ns: the whole cell less wall_ns.
    clients: one mapping per client - client_id, completion_ns, answered, wrong, cpu_user_ns, cpu_system_ns,
    voluntary_switches, involuntary_switches, max_rss_bytes, gil_enabled_ready, gil_enabled_end, ...
    services: one mapping per service - service_id, requests and the same usage keys.
    hosts: by name, of each that took part: its clock against ours, its release, what disturbed it; empty without hosts
    code, environment: ids in Run.fingerprints of what it was measured with; empty in files from before they were taken
    """

    cell_id: str
    system: str
    runtime: str
    arm: str
    block: int
    params: dict[str, Any]
    status: Status
    reason: Message = NOTHING
    wall_ns: int = 0
    start_ns: int = 0
    overhead_ns: int = 0
    requests: int = 0
    answered: int = 0
    wrong: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    latency: dict[str, Any] = field(default_factory=dict)
    connect: dict[str, Any] = field(default_factory=dict)
    waiting: dict[str, Any] = field(default_factory=dict)
    slow: dict[str, dict[str, Any]] = field(default_factory=dict)
    slices: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    others: dict[str, dict[str, Any]] = field(default_factory=dict)
    calc_ns: int = 0
    client_runtime: str = ""
    disturbances: list[Message] = field(default_factory=list)
    clients: list[dict[str, Any]] = field(default_factory=list)
    services: list[dict[str, Any]] = field(default_factory=list)
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    code: str = ""
    environment: str = ""


@dataclass(kw_only=True)
class Run:
    """One execution of a plan, as far as it has come. What is no dataclass is plain JSON values.

    missing: of each runtime that was asked for and is not here, what to do about it
    fingerprints: what the cells were measured with (core.fingerprint)
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

    @property
    def failed_cells(self) -> list[CellResult]:
        """Cells that failed or are invalid, in the order in which they ran."""
        return [cell for cell in self.cells if cell.status != "ok"]


class RunFile:
    """result.json in a run's folder. Keeps every cell's JSON text, so that a save encodes only what is new."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._cells: list[Sealed] = []

    def __repr__(self) -> str:
        return f"RunFile({str(self.path)!r}, {len(self._cells)} cells)"

    def save(self, run: Run) -> None:
        """Write *run* beside the file, flush it to disk, and put it in the file's place. Raises BadInput."""
        self._cells += [seal(_cell_to_json(cell)) for cell in run.cells[len(self._cells) :]]
        _put(self.path, file_text(_head_to_json(run), self._cells))


def to_json(run: Run) -> dict[str, Any]:
    """*run* as its file holds it."""
    cells = [seal(_cell_to_json(cell)) for cell in run.cells]
    whole: dict[str, Any] = json.loads(file_text(_head_to_json(run), cells))
    return whole


def _head_to_json(run: Run) -> dict[str, Any]:
    head = {name: value for name, value in vars(run).items() if name != "cells"}
    return {**head, "missing": {name: remedy.to_json() for name, remedy in run.missing.items()}}


def _cell_to_json(cell: CellResult) -> dict[str, Any]:
    reason = cell.reason.to_json() if cell.reason else ""
    return {**vars(cell), "reason": reason, "disturbances": [one.to_json() for one in cell.disturbances]}


def keep_comparisons(where: Path, run: Run) -> None:
    """Write the comparisons of *run* beside the file that it was read from, which is its measurer's alone.

    load() takes them where the file still has these cells. Raises BadInput.
    """
    kept = {"run_id": run.run_id, "cells": len(run.cells), "comparisons": run.comparisons}
    _put(_path(where).with_name(COMPARISONS), seal(kept).text + "\n")


def _with_kept_comparisons(run: Run, path: Path) -> Run:
    """*run* with what keep_comparisons() wrote, where that is of these cells; a damaged file is made again."""
    try:
        kept = json.loads(path.with_name(COMPARISONS).read_text(encoding="utf-8"), parse_constant=_no_constant)
        result_shape.comparisons(kept["comparisons"])
        is_whole = seal(kept).checksum == kept[CHECKSUM]
        if is_whole and (kept["run_id"], kept["cells"]) == (run.run_id, len(run.cells)):
            run.comparisons = kept["comparisons"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, Misfit):
        pass
    return run


def _put(path: Path, text: str) -> None:
    """Put *text* on the disk at *path*. Raises BadInput."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, text, durable=True)
    except OSError as error:
        raise BadInput(
            "{path} cannot be written: {error}; name another folder with --out.", path=str(path), error=error.strerror
        ) from error


def load(where: Path) -> Run:
    """The run saved in *where*: its folder, or the file itself. Raises BadInput, also for a file that was damaged.

    A key that this version does not know is left out, as a reader must accept it; an older schema is brought up to
    this one.
    """
    path = _path(where)
    text = _text(path)
    try:
        return _with_kept_comparisons(_run_from(_parsed(text, path), text, path), path)
    except RecursionError as error:
        raise BadInput("{path} is not a whole result.json: it is nested too deep.", path=str(path)) from error


def _path(where: Path) -> Path:
    return where / FILE_NAME if where.is_dir() else where


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {error}; name a run's folder (they are under reports/out).",
            path=str(path),
            error=error.strerror,
        ) from error
    except ValueError as error:
        raise _not_json(path, error) from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    """What *text* holds, an object if it has a schema. Raises BadInput if it is not JSON."""
    try:
        stored = json.loads(text, parse_constant=_no_constant)
        return stored if isinstance(stored, dict) else {}
    except (ValueError, RecursionError) as error:
        raise _not_json(path, error) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _not_json(path: Path, error: Exception) -> BadInput:
    return BadInput(
        "{path} is not JSON ({error}); it must be a result.json that a run wrote.", path=str(path), error=str(error)
    )


def _run_from(stored: dict[str, Any], text: str, path: Path) -> Run:
    try:
        content = upgraded(stored, path)
        result_shape.run(content)
        if stored["schema"] >= FIRST_WITH_CHECKSUMS or CHECKSUM in stored:
            check_seals(stored, text, path)
    except Misfit as misfit:
        raise BadInput(
            "{path} is not a whole result.json: {key} is {value}; it must be {accepted}. {remedy}",
            path=str(path),
            key=misfit.key,
            value=misfit.value,
            accepted=misfit.accepted,
            remedy=DAMAGED,
        ) from misfit
    except (KeyError, TypeError, AttributeError, ValueError) as error:  # of an older schema, before it is today's
        raise BadInput("{path} is not a whole result.json: {error}.", path=str(path), error=shown(error)) from error
    cells = [_cell_from(cell) for cell in content["cells"]]
    missing = {name: Message.from_json(remedy) for name, remedy in content.get("missing", {}).items()}
    return Run(**{**_known(Run, content), "cells": cells, "missing": missing})


def _cell_from(stored: Mapping[str, Any]) -> CellResult:
    reason = Message.from_json(stored.get("reason", ""))
    disturbances = [Message.from_json(one) for one in stored.get("disturbances", ())]
    return CellResult(**{**_known(CellResult, stored), "reason": reason, "disturbances": disturbances})


def _known(kind: type[Run] | type[CellResult], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Of *stored*, the keys that this version has a field for."""
    names = {declared.name for declared in fields(kind)}
    return {name: value for name, value in stored.items() if name in names}
