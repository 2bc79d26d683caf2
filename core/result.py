"""result.json: the one file a run leaves, written anew after every cell by replace, so that a kill loses nothing.

The keys are DESIGN section 10's; docs/result.md lists them.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from core.errors import BadInput
from core.messages import NOTHING, Message, message
from core.schema import SCHEMA, upgraded

FILE_NAME = "result.json"
PLAN_KEYS = ("name", "blocks", "scale", "runtimes", "rows")

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
    reason: why its status is not ok. disturbances: what on the machine disturbed it; each has a code.
    client_runtime: the clients' runtime, empty in files from before there was a choice: the service's.

    wall_ns: first release to last answer; 0 where the cell failed before. start_ns: spawn to all ready;
    overhead_ns: the whole cell less wall_ns.
    clients: one mapping per client - client_id, completion_ns, answered, wrong, cpu_user_ns, cpu_system_ns,
    voluntary_switches, involuntary_switches, max_rss_bytes, gil_enabled_ready, gil_enabled_end, ...
    services: one mapping per service - service_id, requests and the same usage keys.
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
    calc_ns: int = 0
    client_runtime: str = ""
    disturbances: list[Message] = field(default_factory=list)
    clients: list[dict[str, Any]] = field(default_factory=list)
    services: list[dict[str, Any]] = field(default_factory=list)


@dataclass(kw_only=True)
class Run:
    """One execution of a plan, as far as it has come. plan, machine, runtimes and profiles are plain JSON values.

    missing: of each runtime that was asked for and is not here, what to do about it
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
    schema: int = SCHEMA

    @property
    def failed_cells(self) -> list[CellResult]:
        """Cells that failed or are invalid, in the order in which they ran."""
        return [cell for cell in self.cells if cell.status != "ok"]


class RunFile:
    """result.json in a run's folder. Keeps every cell's JSON text, so that a save encodes only what is new."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._cells: list[str] = []

    def __repr__(self) -> str:
        return f"RunFile({str(self.path)!r}, {len(self._cells)} cells)"

    def save(self, run: Run) -> None:
        """Write *run* beside the file, flush it to disk, and put it in the file's place. Raises BadInput."""
        self._cells += [_compact(_cell_to_json(cell)) for cell in run.cells[len(self._cells) :]]
        _put(self.path, _file_parts(_head_to_json(run), self._cells))


def to_json(run: Run) -> dict[str, Any]:
    """*run* as its file holds it."""
    return {**_head_to_json(run), "cells": [_cell_to_json(cell) for cell in run.cells]}


def _head_to_json(run: Run) -> dict[str, Any]:
    head = {name: value for name, value in vars(run).items() if name != "cells"}
    return {**head, "missing": {name: remedy.to_json() for name, remedy in run.missing.items()}}


def _cell_to_json(cell: CellResult) -> dict[str, Any]:
    reason = cell.reason.to_json() if cell.reason else ""
    return {**vars(cell), "reason": reason, "disturbances": [one.to_json() for one in cell.disturbances]}


def keep_comparisons(where: Path, run: Run) -> None:
    """Write the comparisons of *run* into the file that it was read from, and change nothing else in it.

    A file that has other cells by now is left alone, since its run goes on elsewhere; one of an older schema too.
    Raises BadInput.
    """
    path = _path(where)
    stored = _stored(path)
    cells = stored.pop("cells")
    if stored["schema"] != SCHEMA or stored.get("comparisons") == run.comparisons or len(cells) != len(run.cells):
        return
    _put(path, _file_parts({**stored, "comparisons": run.comparisons}, map(_compact, cells)))


def _file_parts(head: Mapping[str, Any], cells: Iterable[str]) -> list[str]:
    """The text of a file, each cell on its own line."""
    return [_compact(head)[:-1], ',"cells":[\n', ",\n".join(cells), "\n]}\n"]


def _put(path: Path, parts: Iterable[str]) -> None:
    """Write beside *path*, flush to disk, put it in its place, and flush that too. Raises BadInput."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "w", encoding="utf-8") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        _flush_folder(path.parent)
    except OSError as error:
        raise BadInput(
            "{path} cannot be written: {error}; name another folder with --out.", path=str(path), error=error.strerror
        ) from error
    finally:  # after "disk full", or Ctrl-C
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def unfinished(folder: Path) -> Path:
    """The file beside result.json that this process writes first, so that whoever cleans up after it can remove it."""
    return folder / f".{FILE_NAME}.{os.getpid()}"


def _flush_folder(folder: Path) -> None:
    """Until then a power cut may undo a rename. Source: fsync(2)."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def load(where: Path) -> Run:
    """The run saved in *where*: its folder, or the file itself. Raises BadInput.

    A key that this version does not know is left out, as a reader must accept it; an older schema is brought up to
    this one.
    """
    path = _path(where)
    return _run_from(_stored(path), path)


def _path(where: Path) -> Path:
    return where / FILE_NAME if where.is_dir() else where


def _stored(path: Path) -> Any:
    """What *path* holds. Raises BadInput if it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
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


def _run_from(stored: Any, path: Path) -> Run:
    try:
        content = upgraded(stored, path)
        cells = [_cell_from(cell) for cell in content["cells"]]
        missing = {name: Message.from_json(remedy) for name, remedy in content.get("missing", {}).items()}
        run = Run(**{**_known(Run, content), "cells": cells, "missing": missing})
        lacking = [key for key in PLAN_KEYS if key not in run.plan]
        if lacking:
            raise KeyError(f"plan lacks {', '.join(lacking)}")
        return run
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput("{path} is not a whole result.json: {error}.", path=str(path), error=str(error)) from error


def _cell_from(stored: Mapping[str, Any]) -> CellResult:
    reason = Message.from_json(stored.get("reason", ""))
    disturbances = [Message.from_json(one) for one in stored.get("disturbances", ())]
    return CellResult(**{**_known(CellResult, stored), "reason": reason, "disturbances": disturbances})


def _known(kind: type[Run] | type[CellResult], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Of *stored*, the keys that this version has a field for."""
    names = {declared.name for declared in fields(kind)}
    return {name: value for name, value in stored.items() if name in names}
