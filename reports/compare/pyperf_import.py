"""Read a JSON file of pyperf, written by pyperf or by gilscope, as a run that can be compared.

Source of the format: pyperf 2.10, _bench.py (versions 6 and 1.0) and _collect_metadata.py.
"""

import gzip
import json
import zlib
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from core.decode import Misfit, decoded
from core.errors import BadInput
from core.messages import NOTHING, Message, message
from core.method import Method
from core.result import FILE_NAME, CellResult, Run, load
from core.runtime import RuntimeName
from reports.compare.members import FS_PER_NS, MACHINE, SURROUNDINGS
from reports.compare.runs import PYPERF
from reports.facts.traces import slug

VERSIONS = (6, "1.0")
MOST_S = 1e9
FS_PER_S = 10**15
Metadata = Mapping[str, Any]


def saved_at(path: Path) -> Run:
    """Return the run that is saved at *path*: its folder, its result.json, or a pyperf file (.json or .json.gz).

    Each benchmark of a pyperf file becomes a system, with a cell for each of its processes. Benchmarks that measure
    memory or counts are left out and listed as damaged. Raises BadInput if there is no run at *path*.
    """
    is_run = path.is_dir() or path.name == FILE_NAME or not path.exists()
    stored = None if is_run else _read(path)
    if not (isinstance(stored, dict) and "benchmarks" in stored):
        return load(path)
    if stored.get("version") not in VERSIONS:
        raise BadInput(
            "{path} has version {version} of pyperf's format, but only 6 and 1.0 are supported. Convert the file with: "
            "python -m pyperf convert {path} --output NEW.json",
            path=str(path),
            version=str(stored.get("version")),
        )
    try:
        return _run(stored, path.name)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, Misfit) as error:
        raise BadInput(
            "{path} is not a complete pyperf file: {cause}. Write the file again with pyperf.",
            path=str(path),
            cause=str(error),
        ) from error


def _read(path: Path) -> Any:
    try:
        content = path.read_bytes()
        return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, zlib.error) as error:
        cause = str(getattr(error, "strerror", None) or error)
        raise BadInput("{path} cannot be read: {cause}.", path=str(path), cause=cause) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "{path} is not JSON: {cause}. Name a file that pyperf or gilscope wrote.",
            path=str(path),
            cause=str(error),
        ) from error


def _run(stored: Metadata, name: str) -> Run:
    """Convert the JSON content of a pyperf file to a gilscope run.

    name: of the file
    """
    known = _metadata(stored["benchmarks"][0], stored) if stored["benchmarks"] else {}
    method = Method.from_json(json.loads(known["gilscope_method"])) if "gilscope_method" in known else Method()
    machine = {"cpu": known.get("cpu_model_name"), "cores": known.get("cpu_count"), "kernel": known.get("platform")}
    if "gilscope_machine" in known:
        kept = json.loads(known["gilscope_machine"])
        machine = {name: kept.get(name) for name in (*MACHINE, *SURROUNDINGS)}
    facts = {"version": "python_version", "compiler": "python_compiler", "build": "gilscope_runtime"}
    cells, left_out = _cells(stored)
    return Run(
        run_id=name,
        started_at=str(known.get("date", "")),
        seed=0,
        command=[],
        plan={
            "name": PYPERF,
            "description": str(known.get("gilscope_value", "")),
            "rows": [],
            "runtimes": [],
            "blocks": 0,
            "method": method.to_json(),
        },
        machine=machine,
        runtimes={"Python": {key: known[name] for key, name in facts.items() if known.get(name)}},
        cells=cells,
        damaged=left_out,
    )


def _cells(stored: Metadata) -> tuple[list[CellResult], list[Message]]:
    """Return a measurement (cell) for each process that timed a benchmark, and why other benchmarks are left out."""
    cells: dict[str, list[CellResult]] = {}
    left_out: list[Message] = []
    for benchmark in stored["benchmarks"]:
        known, processes = _metadata(benchmark, stored), [one for one in benchmark["runs"] if one.get("values")]
        system, unit = decoded(known["name"], str), known.get("unit", "second")
        why = NOTHING if processes else message("the benchmark has no values")
        if unit != "second":
            why = message("the benchmark is measured in {unit}, not in seconds", unit=str(unit))
        if why:
            left_out.append(message("{name}: {why}", name=system, why=why))
        elif system in cells:
            raise ValueError(f"there are two benchmarks called {system!r}")
        else:
            cells[system] = [_cell(system, block, one["values"]) for block, one in enumerate(processes, start=1)]
    if not cells:
        raise ValueError(f"no benchmark in it has times ({'; '.join(map(str, left_out)) or 'it is empty'})")
    return [cell for blocks in cells.values() for cell in blocks], left_out


def _metadata(benchmark: Metadata, file: Metadata) -> Metadata:
    """Return the metadata of a benchmark, combined from the file, the benchmark itself and its first process."""
    return ChainMap(*(one.get("metadata") or {} for one in (*benchmark["runs"][:1], benchmark, file)))


def _cell(system: str, block: int, values: list[float]) -> CellResult:
    """Return the median of one process's values as one measurement (cell).

    All values of a process share one memory layout and one hash seed, so they are not independent measurements. The
    number of requests is so large that the shortest times still are whole nanoseconds.
    """
    for value in values:
        if type(value) not in (int, float) or not 1 / FS_PER_S <= value <= MOST_S:
            raise ValueError(f"{system} has the value {value!r}; it must be seconds above 0")
    return CellResult(
        cell_id=slug(system), system=system, runtime=RuntimeName.of("Python"), arm="", block=block, params={},
        status="ok", wall_ns=round(median(values) * FS_PER_S), requests=FS_PER_NS, answered=FS_PER_NS,
    )  # fmt: skip
