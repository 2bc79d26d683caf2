"""Export a run as pyperf's JSON files, which `pyperf compare_to` opens.

An export has one file per arm, because compare_to compares files by the names of their benchmarks.
There is one benchmark per system and parameters, and one pyperf run with one value per block.
commands/export.py calls export(). An arm is a runtime, a service, or the repetition of a runtime
for A/A, and a row is a setting under one arm.
Source of the format: pyperf 2.10, _bench.py (version 1.0), _metadata.py and _collect_metadata.py.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from analysis.cell_index import Row, request_ns
from analysis.settings import value_text
from core.cell import PARAMETERS
from core.messages import BadInput, Json, Message, message
from core.runtime import RuntimeFacts
from reports.compare.compared_runs import PER_REQUEST
from reports.exports import written
from reports.view import View

VERSION = "1.0"  # of pyperf's format


def export(view: View, to: Path) -> tuple[list[Path], list[Message]]:
    """Write ARM.json into the folder *to* for each arm. Return the paths, and a text for each row
    with blocks left out.

    Values are seconds per request. Blocks that are not ok are left out.
    Raises BadInput if no block is ok or a file cannot be written.
    """
    arms = dict.fromkeys(row.runtime for row in view.rows if request_ns(row.good))
    if not arms:
        raise BadInput(
            "Run {run} has no successful block, so there is nothing to export. The run's report "
            "says what failed.",
            run=view.run.run_id,
        )
    texts = {
        path: json.dumps(_document(view, arm), indent=1, ensure_ascii=False) + "\n"
        for arm, path in _paths(to, arms).items()
    }
    left_out = [
        message("{name} ({arm}): {trouble}", name=_name(row), arm=row.runtime, trouble=row.trouble)
        for row in view.rows
        if row.trouble
    ]
    return written(texts), left_out


def _paths(to: Path, arms: Iterable[str]) -> dict[str, Path]:
    """Return the path of each arm's file. Arms whose names differ in replaced characters alone
    have files of their own.
    """
    paths: dict[str, Path] = {}
    for arm in arms:
        name = re.sub(r"[^A-Za-z0-9.+_]+", "-", arm)
        while to / f"{name}.json" in paths.values():
            name += "-"
        paths[arm] = to / f"{name}.json"
    return paths


def _document(view: View, arm: str) -> dict[str, Any]:
    """Return a pyperf file. Facts that pyperf records, too, have pyperf's names."""
    rows = [row for row in view.rows if row.runtime == arm and request_ns(row.good)]
    metadata = {
        "unit": "second",
        "loops": 1,
        "date": view.run.started_at,
        "cpu_model_name": view.machine.cpu,
        # from a cell, because an arm may have a name that is no runtime
        "python_version": view.run.runtimes.get(rows[0].cells[0].runtime, RuntimeFacts()).version,
        "gilscope_run": view.run.run_id,
        "gilscope_arm": arm,
        "gilscope_value": str(PER_REQUEST),
    }
    return {
        "version": VERSION,
        "metadata": _one_line(metadata),
        "benchmarks": [_benchmark(row) for row in rows],
    }


def _benchmark(row: Row) -> dict[str, Any]:
    metadata = {
        "name": _name(row),
        "gilscope_params": json.dumps(dict(row.params), sort_keys=True),
        "gilscope_left_out": str(row.trouble),
    }
    runs = [
        {"metadata": {"gilscope_block": block}, "values": [time_ns / 1e9]}
        for block, time_ns in request_ns(row.good).items()
    ]
    return {"metadata": _one_line(metadata), "runs": runs}


def _one_line(metadata: Json) -> dict[str, Any]:
    """Return metadata as pyperf accepts it: texts are on one line, and empty or unknown values are
    left out.
    """
    lines = {}
    for name, value in metadata.items():
        line = " ".join(value.split()) if isinstance(value, str) else value
        if line not in ("", None):
            lines[name] = line
    return lines


def _name(row: Row) -> str:
    """Return a benchmark's name, the same in every run, because compare_to finds benchmarks by it:
    the system, and the parameters that differ from defaults.
    """
    system = f"system {row.system}" if row.system.isdigit() else row.system
    chosen = []
    for name, value in row.params.items():
        known = PARAMETERS.get(name)
        default = known and (row.params.get(known.same_as) if known.same_as else known.default)
        if not known or value != default:
            chosen.append(f"{name}={value_text(value)}")
    return " ".join([system, *chosen])
