"""Files of reports and exports: their names, and how they are written.

Before commands/report.py and commands/running.py write into a folder that holds no run, they check
that it has none of IN_FOLDER. Other commands write the files that a user names with written().
"""

from collections.abc import Mapping
from pathlib import Path

from core.files import write
from core.messages import BadInput
from record.saved_run import PLOTS, PROFILES

PAGE, FINDINGS = "report.html", "findings.md"
# of the command stress
STRESS, STRESS_TEXT, STRESS_PAGE = "stress.json", "stress.md", "stress.html"
SHEETS = ("table.csv", "routes.csv", "cells.csv")  # made by sheets() in texts.py
IN_FOLDER = (
    PAGE,
    FINDINGS,
    PLOTS,
    PROFILES,
    STRESS,
    STRESS_TEXT,
    STRESS_PAGE,
    *SHEETS,
)  # beside result.json


def written(contents: Mapping[Path, str | bytes], *, private: bool = False) -> list[Path]:
    """Write each content to its path, create missing folders, and return the paths. Raises BadInput
    if a path cannot be written; the files before it then stay.

    private: no other user may ever read the files
    """
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, content, private=private)
    except OSError as error:
        named, cause = str(error.filename), str(error.strerror or error)
        raise BadInput(
            "{path} cannot be written: {cause}; name another file or folder.",
            path=named,
            cause=cause,
        ) from error
    return [*contents]
