"""Files of reports and exports: their names, how they are written, and the formats of exports, one module each."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import BadInput
from core.files import write
from core.messages import Message
from core.result import PLOTS, PROFILES

if TYPE_CHECKING:
    from reports.view import View

PAGE = "report.html"
STRESS, STRESS_TEXT, STRESS_PAGE = "stress.json", "stress.md", "stress.html"
TEXTS = ("table.csv", "cells.csv", "findings.md", "table.md")


@dataclass(frozen=True, kw_only=True)
class Exported:
    """The result of an export: the files that were written, and what was not exported.

    paths: the written files
    left_out: a line for each part that was not exported
    """

    paths: tuple[Path, ...]
    left_out: tuple[Message, ...] = ()


def written(contents: Mapping[Path, str | bytes], left_out: Iterable[Message] = ()) -> Exported:
    """Write each content to its path, and create folders. Raises BadInput if a path cannot be written."""
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, content)
    except OSError as error:
        named, cause = str(error.filename), str(error.strerror or error)
        raise BadInput(
            "{path} cannot be written: {cause}; name another file or folder.", path=named, cause=cause
        ) from error
    return Exported(paths=tuple(contents), left_out=tuple(left_out))


def names_in_folder(views: Iterable[str]) -> tuple[str, ...]:
    """Return the names of all files and folders that a run's folder may contain besides result.json.

    views: the values that a plan's `view` may have
    """
    stress = (STRESS, STRESS_TEXT, STRESS_PAGE)
    return (PAGE, PLOTS, PROFILES, *stress, *TEXTS, *(f"{view}.md" for view in views))


def formats() -> Mapping[str, Callable[["View", Path], Exported]]:
    """Return the formats to which a saved run can be exported, by name."""
    from reports.exports import pyperf_files, texts  # slow to import, and only exports need them

    return {
        "pyperf": pyperf_files.export,
        "parquet": _parquet,
        "csv": texts.csv,
        "markdown": texts.markdown,
    }


def _parquet(view: "View", to: Path) -> Exported:
    """Export to Parquet. Raises BadInput without pyarrow, which only an extra of the installation contains."""
    try:
        from reports.exports import parquet
    except ImportError as error:
        raise BadInput(
            "The format parquet needs the package pyarrow: {error}. Install gilscope[parquet] instead of gilscope, or "
            "choose another format.",
            error=error,
        ) from error
    return parquet.export(view, to)
