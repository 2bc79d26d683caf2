"""Which packages of an environment switch the GIL on: each is imported in a process of its own, as audit does."""

import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path
from time import monotonic

from lab.gil.audit import top_modules
from lab.gil.imports import IMPORT_TIMEOUT_S, Imported, imported

BUDGET_S = 60.0  # for all of them; what is left then is not imported


@cache
def switching(python: Path) -> list[str]:
    """A line for each module in *python*'s environment that switches the GIL on when it is imported, found once.

    Only packages with an extension are looked at: Python code alone does not switch it on.
    """
    until, lines = monotonic() + BUDGET_S, []
    with tempfile.TemporaryDirectory(prefix="gilscope-import-") as folder:
        for module in _modules(python):
            left_s = min(IMPORT_TIMEOUT_S, until - monotonic())
            if left_s <= 0:
                break
            found = imported(python, module, Path(folder), left_s)
            lines += [_line(found)] if found.gil_enabled else []
    return lines


def _line(found: Imported) -> str:
    others = [one for one in found.culprits if one != found.module]
    by = f", by {', '.join(others)}" if others else ""
    return f"of its packages, importing {found.module} switches the GIL on{by}"


def _modules(python: Path) -> list[str]:
    folders = python.parent.parent.glob("lib/python3.*/site-packages")
    installed = metadata.distributions(path=[str(folder) for folder in folders])
    native = [one for one in installed if any(file.suffix == ".so" for file in one.files or ())]
    return sorted(module for one in native for module in top_modules(one))
