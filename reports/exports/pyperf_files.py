"""A run written as pyperf's JSON files, which `pyperf compare_to` opens.

One file per arm, because compare_to compares files, benchmark by benchmark of the same name. One benchmark per
system and parameters; one pyperf run, with one value, per block.
Source of the format: pyperf 2.10, _bench.py (version 1.0) and _metadata.py.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.cell import PARAMETERS
from core.errors import BadInput
from core.messages import message
from reports.compare.members import MACHINE, SURROUNDINGS, times_fs
from reports.compare.pyperf_import import FS_PER_S
from reports.compare.runs import PER_REQUEST
from reports.exports import Exported, written
from reports.facts.cells import Row
from reports.facts.settings import value_text
from reports.view import View

VERSION = "1.0"


def export(view: View, to: Path) -> Exported:
    """Write the run for pyperf; blocks that are not ok are left out.

    to: a folder, for a file ARM.json of each arm; or NAME.json, which is NAME-ARM.json where there are several
    Values are seconds per request: wall time over requests.
    Raises BadInput if there is no block that is ok, or nowhere to write.
    """
    arms = dict.fromkeys(row.runtime for row in view.rows if times_fs(row))
    if not arms:
        raise BadInput("Run {run} has no block that is ok, so there is nothing to export.", run=view.run.run_id)
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
    """Metadata of the whole file: where pyperf has a name for a fact, by that name."""
    run, runtime = view.run, row.cells[0].runtime
    facts, machine = run.runtimes.get(runtime, {}), run.machine
    return {
        "unit": "second",
        "loops": 1,
        "date": run.started_at,
        "cpu_model_name": machine.get("cpu"),
        "cpu_count": machine.get("cores"),
        "platform": machine.get("kernel"),
        "python_implementation": facts.get("implementation"),
        "python_version": facts.get("version"),
        "python_compiler": facts.get("compiler"),
        "python_executable": facts.get("executable"),
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


def _one_line(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as pyperf accepts it: texts of one line, nothing that is empty or unknown."""
    lines = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in metadata.items()}
    return {name: value for name, value in lines.items() if value not in (None, "")}


def _name(row: Row) -> str:
    """Return system and the parameters that are not at their defaults: the same in every run of the same cell."""
    system = f"system {row.system}" if row.system.isdigit() else row.system
    chosen = []
    for name, value in row.params.items():
        known = PARAMETERS.get(name)
        default = known and (row.params.get(known.same_as) if known.same_as else known.default)
        if not known or value != default:
            chosen.append(f"{name}={value_text(value)}")
    return " ".join([system, *chosen])
