"""A system that a file outside the repository declares, as files of systems/ do."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from core.errors import BadInput
from core.messages import message, verbatim
from core.system import System

SUFFIX = ".py"
TOLD = "system_file"  # children are told the path under this key, and load the file themselves
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


def load_system(path: Path) -> System:
    """The SYSTEM of the file *path*, which its children are told. Raises BadInput.

    A requirements file beside *path* is named by its whole path. Modules in the file's folder can be imported, after
    all others.
    """
    path = path.absolute()
    system = getattr(_module(path), "SYSTEM", None)
    if not isinstance(system, System):
        seen = (
            message("a SYSTEM that is {kind}", kind=type(system).__name__)
            if system is not None
            else message("no SYSTEM")
        )
        raise BadInput(
            "{path} declares {seen}; it must be a core.system.System. docs/add-a-system.md shows one.",
            path=str(path),
            seen=seen,
        )
    if not all(_KEY.fullmatch(text) for text in (system.key, system.name)) or system.name == "all":
        raise BadInput(
            "{path} declares the system {key!r} ({name!r}); number and name must be letters, digits "
            "and . _ - and begin with a letter or a digit.",
            path=str(path),
            key=system.key,
            name=system.name,
        )
    beside = path.parent / system.requirements
    requirements = str(beside) if system.requirements and beside.is_file() else system.requirements
    return replace(system, requirements=requirements, told={**system.told, TOLD: str(path)})


def file_of(system: System) -> str:
    """The path of the file outside the repository that declares *system*; "" for a built-in system."""
    return str(system.told.get(TOLD, ""))


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise BadInput(
            "{path} cannot be read: there is no such file; name a file that declares a SYSTEM.", path=str(path)
        )
    import hashlib  # only for a file from outside

    name = f"system_file_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        cause = verbatim(f"{type(error).__name__}: {error}")
        line = _line_of(error, path)
        raise BadInput(
            "{path} cannot be imported: {cause}.",
            path=str(path),
            cause=message("line {line}: {cause}", line=line, cause=cause) if line else cause,
        ) from error
    return module


def _line_of(error: BaseException, path: Path) -> int:
    """The last line of the file that the error came from; 0 for a syntax error, which says its line itself."""
    from traceback import walk_tb  # measured children import this module, and it would be a tenth of their start

    lines = [line for step, line in walk_tb(error.__traceback__) if step.f_code.co_filename == str(path)]
    return lines[-1] if lines else 0
