"""A run written as pyperf's JSON files, which `pyperf compare_to` opens.

One file per arm, because compare_to compares files, benchmark by benchmark of the same name. One benchmark per
system and parameters; one pyperf run, with one value, per block.
Source of the format: pyperf 2.10, _bench.py (version 1.0) and _metadata.py.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.cell import PARAMETERS
from core.errors import BadInput
from core.messages import message
from core.result import Run
from reports.compare.comparable import MACHINE, SURROUNDINGS
from reports.compare.samples import FS_PER_S, Sample, Saved, of_run
from reports.exports.writing import Exported, written
from reports.facts.settings import value_text
from reports.view import View

VERSION = "1.0"


def export(view: View, to: Path) -> Exported:
    """Write the run for pyperf; blocks that are not ok are left out.

    to: a folder, for a file ARM.json of each arm; or NAME.json, which is NAME-ARM.json if there are several
    Values are seconds per request: wall time over requests.
    Raises BadInput if there is no block that is ok, or nowhere to write.
    """
    run, saved = view.run, of_run(view.run)
    by_arm: dict[str, list[Sample]] = {}
    for sample in saved.samples:
        if sample.times:
            by_arm.setdefault(sample.arm, []).append(sample)
    if not by_arm:
        raise BadInput("Run {run} has no block that is ok, so there is nothing to export.", run=run.run_id)
    texts = {}
    for arm, samples in by_arm.items():
        safe = re.sub(r"[^A-Za-z0-9.+_]+", "-", arm)
        path = to / f"{safe}.json"
        if to.suffix == ".json":
            path = to if len(by_arm) == 1 else to.with_name(f"{to.stem}-{safe}.json")
        texts[path] = json.dumps(_document(run, saved, samples), indent=1, ensure_ascii=False) + "\n"
    left_out = (
        message("{name} ({arm}): {trouble}", name=_name(sample), arm=sample.arm, trouble=sample.trouble)
        for sample in saved.samples
        if sample.trouble
    )
    return written(texts, left_out)


def _document(run: Run, saved: Saved, samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the file of one arm. A fact that pyperf has a name for goes by that name."""
    facts = saved.runtimes.get(samples[0].runtime, {})
    metadata = {
        "unit": "second",
        "loops": 1,
        "date": run.started_at,
        "cpu_model_name": saved.machine.get("cpu"),
        "cpu_count": saved.machine.get("cores"),
        "platform": saved.machine.get("kernel"),
        **{f"python_{name}": facts.get(name) for name in ("implementation", "version", "compiler", "executable")},
        "python_config_args": facts.get("flags", {}).get("configure"),
        "gilscope_run": run.run_id,
        "gilscope_arm": samples[0].arm,
        "gilscope_runtime": samples[0].runtime,
        "gilscope_value": str(saved.reading),
        "gilscope_machine": json.dumps({name: saved.machine.get(name) for name in (*MACHINE, *SURROUNDINGS)}),
        "gilscope_method": json.dumps(saved.method.to_json(), sort_keys=True),
    }
    return {"version": VERSION, "metadata": _one_line(metadata), "benchmarks": list(map(_benchmark, samples))}


def _benchmark(sample: Sample) -> dict[str, Any]:
    metadata = {
        "name": _name(sample),
        "gilscope_system": sample.system,
        "gilscope_title": sample.title,
        "gilscope_params": json.dumps(dict(sample.params), sort_keys=True),
        "gilscope_left_out": str(sample.trouble),
    }
    runs = [{"metadata": {"gilscope_block": one.block}, "values": [one.request_fs / FS_PER_S]} for one in sample.times]
    return {"metadata": _one_line(metadata), "runs": runs}


def _one_line(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as pyperf accepts it: texts of one line, nothing that is empty or unknown."""
    lines = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in metadata.items()}
    return {name: value for name, value in lines.items() if value not in (None, "")}


def _name(sample: Sample) -> str:
    """Return system and the parameters that are not at their defaults: the same in every run of the same cell."""
    system = f"system {sample.system}" if sample.system.isdigit() else sample.system
    chosen = []
    for name, value in sample.params.items():
        known = PARAMETERS.get(name)
        default = known and (sample.params.get(known.same_as) if known.same_as else known.default)
        if not known or value != default:
            chosen.append(f"{name}={value_text(value)}")
    return " ".join([system, *chosen])
