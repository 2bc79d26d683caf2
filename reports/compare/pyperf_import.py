"""pyperf's JSON files, its own and ours, read to be compared.

Source of the format: pyperf 2.10, _bench.py (versions 6 and 1.0) and _collect_metadata.py.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from core.errors import BadInput
from core.messages import NOTHING, message, verbatim
from core.result import FILE_NAME, load
from reports.compare.samples import FS_PER_S, BlockTime, Sample, Saved, method_of, of_run

VERSIONS = (6, "1.0")
MOST_S = 1e9
READING = message("A run of pyperf (one process) counts as one block: the median of its values.")


def saved_at(path: Path) -> Saved:
    """What is saved there: a run (its folder or its result.json) or a pyperf file (.json or .json.gz). Raises BadInput.

    Each benchmark of a file is a sample with a time for each of its runs. Only times are read; benchmarks of memory or
    of counts are left out, and named.
    """
    is_run = path.is_dir() or path.name == FILE_NAME or not path.exists()
    stored = None if is_run else _read(path)
    if isinstance(stored, dict) and "benchmarks" in stored:
        return _checked(stored, path)
    return of_run(load(path))


def _read(path: Path) -> Any:
    try:
        content = path.read_bytes()
        return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, zlib.error) as error:
        cause = str(getattr(error, "strerror", None) or error)
        raise BadInput("{path} cannot be read: {cause}.", path=str(path), cause=cause) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "{path} is not JSON ({cause}); it must be a file that pyperf or gilscope wrote.",
            path=str(path),
            cause=str(error),
        ) from error


def _checked(stored: Mapping[str, Any], path: Path) -> Saved:
    if stored.get("version") not in VERSIONS:
        raise BadInput(
            "{path} has version {version} of pyperf's format; accepted are 6 and 1.0. Convert it with: "
            "python -m pyperf convert --output NEW.json",
            path=str(path),
            version=str(stored.get("version")),
        )
    try:
        return _saved(stored)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise BadInput("{path} is not a complete pyperf file: {cause}.", path=str(path), cause=str(error)) from error


def _saved(stored: Mapping[str, Any]) -> Saved:
    common = stored.get("metadata") or {}
    found = [_sample(one, common) for one in stored["benchmarks"]]
    left_out = [message("{name}: {why}", name=sample.system, why=sample.gate) for sample in found if sample.gate]
    samples = tuple(sample for sample in found if not sample.gate)
    if not samples:
        raise ValueError(f"no benchmark in it has times ({'; '.join(map(str, left_out)) or 'it is empty'})")
    twice = [name for name, count in Counter(one.system for one in samples).items() if count > 1]
    if twice:
        raise ValueError(f"there are two benchmarks called {twice[0]!r}")
    known = _metadata(stored["benchmarks"][0], common)
    method = known.get("gilscope_method")
    return Saved(
        machine=_machine(known),
        method=method_of(json.loads(method) if method else None),
        runtimes={"Python": _facts(known)},
        samples=samples,
        reading=verbatim(known["gilscope_value"]) if "gilscope_value" in known else READING,
        left_out=tuple(left_out),
    )


def _metadata(benchmark: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """All that is known of a benchmark: of the file, its own, and its first run's."""
    first: Mapping[str, Any] = benchmark["runs"][0].get("metadata", {}) if benchmark["runs"] else {}
    return {**common, **benchmark.get("metadata", {}), **first}


def _machine(known: Mapping[str, Any]) -> dict[str, Any]:
    if "gilscope_machine" in known:
        return dict(json.loads(known["gilscope_machine"]))
    return {"cpu": known.get("cpu_model_name"), "cores": known.get("cpu_count"), "kernel": known.get("platform")}


def _facts(known: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "version": known.get("python_version"),
        "compiler": known.get("python_compiler"),
        "build": known.get("gilscope_runtime"),
    }


def _sample(benchmark: Mapping[str, Any], common: Mapping[str, Any]) -> Sample:
    known = _metadata(benchmark, common)
    name, unit = known["name"], known.get("unit", "second")
    if not isinstance(name, str):
        raise TypeError(f"a benchmark is called {name!r}; a name must be text")
    runs = [run["values"] for run in benchmark["runs"] if run.get("values")] if unit == "second" else []
    times = tuple(_block_time(block, values, name) for block, values in enumerate(runs, start=1))
    gate = NOTHING if times else message("it has no values")
    if unit != "second":
        gate = message("it is measured in {unit}, not in seconds", unit=str(unit))
    return Sample(system=name, params={}, arm="", runtime="Python", times=times, gate=gate)


def _block_time(block: int, values: list[float], name: str) -> BlockTime:
    """The values of one process are draws of one memory layout and one hash seed, so they count once."""
    for value in values:
        if type(value) not in (int, float) or not 0 < value <= MOST_S:
            raise ValueError(f"{name} has the value {value!r}; it must be seconds above 0")
    time_fs = round(median(values) * FS_PER_S)
    return BlockTime(block=block, request_fs=time_fs)
