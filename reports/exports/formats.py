"""The formats to which a saved run can be exported, by name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from reports.exports import Exported, hgrm, parquet, pyperf_files, texts
from reports.view import View

FORMATS: Mapping[str, Callable[[View, Path], Exported]] = {
    "pyperf": pyperf_files.export,
    "parquet": parquet.export,
    "csv": texts.csv,
    "hgrm": hgrm.export,
    "markdown": texts.markdown,
}
