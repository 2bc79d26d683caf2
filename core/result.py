"""result.json: the one file a run leaves, written anew after every cell by replace, so that a kill loses nothing.

The keys are DESIGN section 10's; docs/result.md lists them.
"""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from core.errors import BadInput

SCHEMA = 1
FILE_NAME = "result.json"
PLAN_KEYS = ("name", "blocks", "scale", "runtimes", "rows")

Status = Literal["ok", "failed", "invalid"]


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What one cell gave in one block. errors counts by code; latency, connect and waiting are Histogram.to_json().

    waiting: from sending a request until its handler began, of one request in 64. calc_ns: sum over the requests.
    disturbances: what on the machine disturbed it, in words.
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
    reason: str = ""
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
    disturbances: list[str] = field(default_factory=list)
    clients: list[dict[str, Any]] = field(default_factory=list)
    services: list[dict[str, Any]] = field(default_factory=list)


@dataclass(kw_only=True)
class Run:
    """One execution of a plan, as far as it has come. plan, machine and runtimes are plain JSON values."""

    run_id: str
    started_at: str
    seed: int
    command: list[str]
    plan: dict[str, Any]
    machine: dict[str, Any]
    runtimes: dict[str, dict[str, Any]]
    missing: dict[str, str] = field(default_factory=dict)
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
        self._cells += [_compact(asdict(cell)) for cell in run.cells[len(self._cells) :]]
        text = _compact(_without_cells(run))
        parts = [text[:-1], ',"cells":[\n', ",\n".join(self._cells), "\n]}\n"]
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(beside, "w", encoding="utf-8") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        except OSError as error:
            raise BadInput(
                f"{self.path} cannot be written: {error.strerror}; name another folder with --out."
            ) from error


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _without_cells(run: Run) -> dict[str, Any]:
    head = asdict(replace(run, cells=[]))
    del head["cells"]
    return head


def load(where: Path) -> Run:
    """The run saved in *where*: its folder, or the file itself. Raises BadInput."""
    path = where / FILE_NAME if where.is_dir() else where
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {error.strerror}; name a run's folder (they are under reports/out)."
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON ({error}); it must be a {FILE_NAME} that a run wrote.") from error
    return _run_from(stored, path)


def _run_from(stored: Any, path: Path) -> Run:
    schema = stored.get("schema") if isinstance(stored, dict) else None
    if schema != SCHEMA:
        raise BadInput(f"{path} has schema {schema!r}; this version reads schema {SCHEMA}.")
    try:
        cells = [CellResult(**cell) for cell in stored.pop("cells")]
        run = Run(cells=cells, **stored)
        missing = [key for key in PLAN_KEYS if key not in run.plan]
        if missing:
            raise KeyError(f"plan lacks {', '.join(missing)}")
        return run
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path} is not a whole {FILE_NAME}: {error}.") from error
