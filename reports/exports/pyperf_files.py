"""Export a run as pyperf's JSON files, which `pyperf compare_to` opens, and read such files to compare them.

An export has one file per arm, because compare_to compares files by the names of their benchmarks. There is one
benchmark per system and parameters, and one pyperf run with one value per block.
Source of the format: pyperf 2.10, _bench.py (versions 6 and 1.0), _metadata.py and _collect_metadata.py.
"""

import gzip
import json
import re
import zlib
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from core.cell import PARAMETERS
from core.decode import Misfit, decoded
from core.errors import BadInput
from core.messages import NOTHING, Message, message
from core.method import Method
from core.result import FILE_NAME, CellResult, Run, load
from core.runtime import RuntimeName
from reports.compare.members import FS_PER_NS, MACHINE, SURROUNDINGS, times_fs
from reports.compare.runs import PER_REQUEST, PYPERF
from reports.exports import Exported, written
from reports.facts.cells import Row, slug
from reports.facts.settings import value_text
from reports.view import View

VERSION, VERSIONS = "1.0", (6, "1.0")
OF_MACHINE = {"cpu_model_name": "cpu", "cpu_count": "cores", "platform": "kernel"}  # our names by pyperf's
OF_RUNTIME = {
    "python_implementation": "implementation",
    "python_version": "version",
    "python_compiler": "compiler",
    "python_executable": "executable",
}
MOST_S = 1e9
FS_PER_S = 10**15
Metadata = Mapping[str, Any]


def export(view: View, to: Path) -> Exported:
    """Write a run as pyperf files. Values are seconds per request. Blocks that are not ok are left out.

    to: a folder, in which ARM.json is written for each arm; or NAME.json, which becomes NAME-ARM.json for several arms
    Raises BadInput if no block is ok or a file cannot be written.
    """
    arms = dict.fromkeys(row.runtime for row in view.rows if times_fs(row))
    if not arms:
        raise BadInput(
            "Run {run} has no block that is ok, so nothing can be exported. The report of the run says what failed.",
            run=view.run.run_id,
        )
    files = {_path_of(arm, to, len(arms)): _document(view, arm) for arm in arms}
    texts = {path: json.dumps(document, indent=1, ensure_ascii=False) + "\n" for path, document in files.items()}
    left_out = (
        message("{name} ({arm}): {trouble}", name=_name(row), arm=row.runtime, trouble=row.trouble)
        for row in view.rows
        if row.trouble
    )
    return written(texts, left_out)


def _path_of(arm: str, path: Path, arms: int) -> Path:
    safe = re.sub(r"[^A-Za-z0-9.+_]+", "-", arm)
    if path.suffix != ".json":
        return path / f"{safe}.json"
    return path if arms == 1 else path.with_name(f"{path.stem}-{safe}.json")


def _document(view: View, arm: str) -> dict[str, Any]:
    rows = [row for row in view.rows if row.runtime == arm and times_fs(row)]
    return {
        "version": VERSION,
        "metadata": _one_line(_common(view, rows[0])),
        "benchmarks": [_benchmark(row) for row in rows],
    }


def _common(view: View, row: Row) -> dict[str, Any]:
    """Return the metadata of a whole pyperf file. Facts that pyperf records, too, have pyperf's names."""
    run, runtime = view.run, row.cells[0].runtime
    facts, machine = run.runtimes.get(runtime, {}), run.machine
    return {
        "unit": "second",
        "loops": 1,
        "date": run.started_at,
        **{name: machine.get(ours) for name, ours in OF_MACHINE.items()},
        **{name: facts.get(ours) for name, ours in OF_RUNTIME.items()},
        "python_config_args": facts.get("flags", {}).get("configure"),
        "gilscope_run": run.run_id,
        "gilscope_arm": row.runtime,
        "gilscope_runtime": runtime,
        "gilscope_value": str(PER_REQUEST),
        "gilscope_machine": json.dumps({name: machine.get(name) for name in (*MACHINE, *SURROUNDINGS)}),
        "gilscope_method": json.dumps(view.plan.method.to_json(), sort_keys=True),
    }


def _benchmark(row: Row) -> dict[str, Any]:
    metadata = {
        "name": _name(row),
        "gilscope_system": row.system,
        "gilscope_title": row.title,
        "gilscope_params": json.dumps(dict(row.params), sort_keys=True),
        "gilscope_left_out": str(row.trouble),
    }
    runs = [
        {"metadata": {"gilscope_block": block}, "values": [time_fs / FS_PER_S]}
        for block, time_fs in times_fs(row).items()
    ]
    return {"metadata": _one_line(metadata), "runs": runs}


def _one_line(metadata: Metadata) -> dict[str, Any]:
    """Return metadata as pyperf accepts it: texts are on one line, and empty or unknown values are left out."""
    lines = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in metadata.items()}
    return {name: value for name, value in lines.items() if value not in (None, "")}


def _name(row: Row) -> str:
    """Return a benchmark's name, the same in every run: the system, and the parameters that differ from defaults."""
    system = f"system {row.system}" if row.system.isdigit() else row.system
    chosen = []
    for name, value in row.params.items():
        known = PARAMETERS.get(name)
        default = known and (row.params.get(known.same_as) if known.same_as else known.default)
        if not known or value != default:
            chosen.append(f"{name}={value_text(value)}")
    return " ".join([system, *chosen])


# ---- reading ---------------------------------------------------------------------------------------------------------


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
    machine = {ours: known.get(name) for name, ours in OF_MACHINE.items()}
    if "gilscope_machine" in known:
        kept = json.loads(known["gilscope_machine"])
        machine = {name: kept.get(name) for name in (*MACHINE, *SURROUNDINGS)}
    facts = {**OF_RUNTIME, "gilscope_runtime": "build"}
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
        runtimes={"Python": {ours: known[name] for name, ours in facts.items() if known.get(name)}},
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
