"""Files of reports and exports: their names, and how they are written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput
from core.files import write
from core.messages import Message
from core.result import PLOTS, PROFILES

PAGE = "report.html"
STRESS, STRESS_TEXT, STRESS_PAGE = "stress.json", "stress.md", "stress.html"
TEXTS = ("table.csv", "cells.csv", "findings.md")
IN_FOLDER = (PAGE, PLOTS, PROFILES, STRESS, STRESS_TEXT, STRESS_PAGE, *TEXTS)  # beside result.json


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
