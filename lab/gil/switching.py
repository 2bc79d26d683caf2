"""Which modules of an environment switch the GIL on when they are imported."""

from functools import cache
from importlib import metadata
from pathlib import Path
from time import monotonic

from core.messages import Message, listed, message
from lab.environments.environment import distributions
from lab.folders import PrivateFolder
from lab.gil.imports import IMPORT_TIMEOUT_S, Imported, imported

SWITCHING_BUDGET_S = 60.0  # for all imports of an environment; what is left then is not imported


def switches_on(outcome: Imported) -> Message:
    """That an import switches the GIL on, and by which other module, if CPython named one."""
    others = [name for name in outcome.culprits if name != outcome.module]
    if not others:
        return message("importing {module} switches the GIL on", module=outcome.module)
    return message("importing {module} switches the GIL on, by {others}", module=outcome.module, others=listed(others))


def top_modules(package: metadata.Distribution) -> list[str]:
    """The modules to import: the outermost of its packages that have code, and modules beside them.

    A folder without __init__.py is a namespace, which holds no code itself: its packages are taken. Modules whose
    name begins with _ are left to the public ones, where there are any.
    """
    names = {dotted for file in package.files or () if (dotted := _dotted(file.parts))}
    if any(name.startswith("__editable__") for name in names):  # its modules are elsewhere, setuptools lists them
        names = set((package.read_text("top_level.txt") or "").split())
    outermost = sorted(name for name in names if not any(name.startswith(other + ".") for other in names))
    return [name for name in outermost if not name.startswith("_")] or outermost


def _dotted(parts: tuple[str, ...]) -> str:
    """The module that a file is, "" for any other file (data, scripts, tests, type stubs)."""
    *folders, file = parts
    stem, _, suffix = file.partition(".")
    if parts[0] == ".." or parts[0].endswith((".dist-info", ".data")) or parts[0] in ("test", "tests"):
        return ""
    if suffix != "py" and not suffix.endswith("so"):
        return ""
    names = folders if stem == "__init__" else [*folders, stem]
    return ".".join(names) if names and all(name.isidentifier() for name in names) else ""


@cache
def switching(python: Path) -> list[Message]:
    """A message for each module in *python*'s environment that switches the GIL on when it is imported; looked up once.

    Only packages with an extension are imported: Python code alone does not switch it on.
    """
    until, faults = monotonic() + SWITCHING_BUDGET_S, []
    with PrivateFolder() as private:
        for module in _modules(python):
            left_s = min(IMPORT_TIMEOUT_S, until - monotonic())
            if left_s <= 0:
                break
            outcome = imported(python, module, private.folder, left_s)
            if outcome.gil_enabled:
                faults.append(message("of its packages, {switching}", switching=switches_on(outcome)))
    return faults


def _modules(python: Path) -> list[str]:
    installed = distributions(python)
    native = [package for package in installed if any(file.suffix == ".so" for file in package.files or ())]
    return sorted(module for package in native for module in top_modules(package))
