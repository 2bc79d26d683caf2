"""The formats that a saved run is exported in, by name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from core.result import Run
from reports.exports import hgrm, parquet, pyperf_files, texts
from reports.exports.writing import Exported

Export = Callable[[Run, Mapping[str, str], Path], Exported]


def pyperf(run: Run, titles: Mapping[str, str], to: Path) -> Exported:
    """pyperf JSON: a file for each arm in the folder *to*, or NAME.json. Raises BadInput."""
    paths, left_out = pyperf_files.export(run, to)
    return Exported(paths=tuple(paths), left_out=tuple(left_out))


FORMATS: Mapping[str, Export] = {
    "pyperf": pyperf,
    "parquet": parquet.export,
    "csv": texts.csv,
    "hgrm": hgrm.export,
    "markdown": texts.markdown,
}
