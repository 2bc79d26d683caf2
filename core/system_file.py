"""Load a system from a user's file, which declares SYSTEM as the files of systems/ do.

config/run_plan.py loads the file that --system names, and systems/__init__.py loads it again in
each child. Loading executes the user's code, adds its module to sys.modules and appends its folder
to sys.path, for the rest of the process.
"""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from core.errors import BadInput
from core.messages import AND, OR, listed, message, verbatim
from core.system import CLIENT, SERVICE, System

SUFFIX = ".py"  # how --system tells a file from a name
# key of System.child_config with the path, from which children load the file
PATH_KEY = "system_file"
# By role, sets of fields of System. A file gives one whole set, or a native program instead.
SIDES = {
    SERVICE: (["service"], ["command"]),
    CLIENT: (["encode", "decode", "check"], ["caller", "message"], ["client"]),
}
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")  # what may stand in file names and in cell_id


def load_system(path: Path) -> System:
    """Return the SYSTEM that the file *path* declares. Child processes load the same file. Raises
    BadInput.

    A requirements file in the same folder is named by its whole path. The folder is appended to
    sys.path.
    """
    path = path.absolute()
    system = getattr(_module(path), "SYSTEM", None)
    if not isinstance(system, System):
        seen = (
            message("a variable SYSTEM of type {kind}", kind=type(system).__name__)
            if system is not None
            else message("no Python variable SYSTEM")
        )
        raise BadInput(
            "{path} declares {seen}. It must declare SYSTEM, a core.system.System, as "
            "docs/add-a-system.md shows.",
            path=path,
            seen=seen,
        )
    if not all(_KEY.fullmatch(text) for text in (system.key, system.name)) or system.name == "all":
        raise BadInput(
            "{path} declares the system {key!r} with the name {name!r}. Use only letters, digits "
            "and the characters . _ - in the number and the name of a system, and begin both with "
            "a letter or a digit.",
            path=path,
            key=system.key,
            name=system.name,
        )
    _expect_both_sides(path, system)
    beside = path.parent / system.requirements
    requirements = str(beside) if system.requirements and beside.is_file() else system.requirements
    return replace(
        system, requirements=requirements, child_config={**system.child_config, PATH_KEY: str(path)}
    )


def _expect_both_sides(path: Path, system: System) -> None:
    """Raise BadInput unless *system* declares one way to serve and one way to call."""
    for side, ways in SIDES.items():
        given = [name for way in ways for name in way if getattr(system, name)]
        if given in ways or (not given and getattr(system, f"native_{side}")):
            continue
        raise BadInput(
            "In {path}, SYSTEM has {given}, but it must have exactly one of these: {ways}. Correct "
            "the fields.",
            path=path,
            given=listed(given, last=AND)
            or message("no field that says how to start or call the service"),
            ways=listed([listed(way, last=AND) for way in ways], joint=OR),
        )


def file_of(system: System) -> str:
    """Return the path of the user's file that declares *system*; "" for a built-in system."""
    return str(system.child_config.get(PATH_KEY, ""))


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise BadInput(
            "{path} does not exist. Give a Python file that defines the variable SYSTEM.", path=path
        )
    name = f"system_file_{path.stem}"
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
            "{path} cannot be imported: {cause}. Correct the file.",
            path=path,
            cause=message("line {line}: {cause}", line=line, cause=cause) if line else cause,
        ) from error
    return module


def _line_of(error: BaseException, path: Path) -> int:
    """Return the number of the last line of *path* in the error's traceback; 0 for a syntax error,
    which has none.
    """
    from traceback import walk_tb  # imported here because it would take a tenth of a child's start

    lines = [
        line for step, line in walk_tb(error.__traceback__) if step.f_code.co_filename == str(path)
    ]
    return lines[-1] if lines else 0
