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
from core.result import Run
from reports.compare.comparable import MACHINE, SURROUNDINGS
from reports.compare.samples import FS_PER_S, BlockTime, Sample, Saved, of_run
from reports.exports.writing import Exported, written
from reports.facts.settings import value_text
from reports.view import View

VERSION = "1.0"


def export(view: View, to: Path) -> Exported:
    """Write the run for pyperf; blocks that are not ok are left out.

    to: a folder, for a file ARM.json of each arm; or NAME.json, which is NAME-ARM.json where there are several
    Values are seconds per request: wall time over requests.
    Raises BadInput if there is no block that is ok, or nowhere to write.
    """
    run, saved = view.run, of_run(view.run)
    arms = dict.fromkeys(sample.arm for sample in saved.samples if sample.times)
    if not arms:
        raise BadInput("Run {run} has no block that is ok, so there is nothing to export.", run=run.run_id)
    files = {_path_of(arm, to, len(arms)): _document(run, saved, arm) for arm in arms}
    texts = {path: json.dumps(document, indent=1, ensure_ascii=False) + "\n" for path, document in files.items()}
    left_out = (
        message("{name} ({arm}): {trouble}", name=_name(sample), arm=sample.arm, trouble=sample.trouble)
        for sample in saved.samples
        if sample.trouble
    )
    return Exported(paths=written(texts), left_out=tuple(left_out))


def _path_of(arm: str, path: Path, arms: int) -> Path:
    safe = re.sub(r"[^A-Za-z0-9.+_]+", "-", arm)
    if path.suffix != ".json":
        return path / f"{safe}.json"
    return path if arms == 1 else path.with_name(f"{path.stem}-{safe}.json")


def _document(run: Run, saved: Saved, arm: str) -> dict[str, Any]:
    samples = [sample for sample in saved.samples if sample.arm == arm and sample.times]
    return {
        "version": VERSION,
        "metadata": _one_line(_common(run, saved, samples[0])),
        "benchmarks": [_benchmark(sample) for sample in samples],
    }


def _common(run: Run, saved: Saved, sample: Sample) -> dict[str, Any]:
    """Metadata of the whole file: where pyperf has a name for a fact, by that name."""
    facts = saved.runtimes.get(sample.runtime, {})
    return {
        "unit": "second",
        "loops": 1,
        "date": run.started_at,
        "cpu_model_name": saved.machine.get("cpu"),
        "cpu_count": saved.machine.get("cores"),
        "platform": saved.machine.get("kernel"),
        "python_implementation": facts.get("implementation"),
        "python_version": facts.get("version"),
        "python_compiler": facts.get("compiler"),
        "python_executable": facts.get("executable"),
        "python_config_args": facts.get("flags", {}).get("configure"),
        "gilscope_run": run.run_id,
        "gilscope_arm": sample.arm,
        "gilscope_runtime": sample.runtime,
        "gilscope_value": str(saved.reading),
        "gilscope_machine": json.dumps({name: saved.machine.get(name) for name in (*MACHINE, *SURROUNDINGS)}),
        "gilscope_method": json.dumps(saved.method.to_json(), sort_keys=True),
    }


def _benchmark(sample: Sample) -> dict[str, Any]:
    metadata = {
        "name": _name(sample),
        "gilscope_system": sample.system,
        "gilscope_title": sample.title,
        "gilscope_params": json.dumps(dict(sample.params), sort_keys=True),
        "gilscope_left_out": str(sample.trouble),
    }
    return {"metadata": _one_line(metadata), "runs": [_run(one) for one in sample.times]}


def _run(one: BlockTime) -> dict[str, Any]:
    return {"metadata": {"gilscope_block": one.block}, "values": [one.request_fs / FS_PER_S]}


def _one_line(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as pyperf accepts it: texts of one line, nothing that is empty or unknown."""
    lines = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in metadata.items()}
    return {name: value for name, value in lines.items() if value not in (None, "")}


def _name(sample: Sample) -> str:
    """System and the parameters that are not at their defaults: the same in every run of the same cell."""
    system = f"system {sample.system}" if sample.system.isdigit() else sample.system
    chosen = (f"{name}={value_text(value)}" for name, value in sample.params.items() if _is_chosen(name, sample.params))
    return " ".join([system, *chosen])


def _is_chosen(name: str, params: Mapping[str, Any]) -> bool:
    known = PARAMETERS.get(name)
    if known is None:
        return True
    default = params.get(known.same_as) if known.same_as else known.default
    return bool(params[name] != default)
