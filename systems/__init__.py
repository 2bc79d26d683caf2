"""Find systems (services with their clients): the built-in ones, which this folder and the
experiments' *_systems.py files declare, and that of a user's file.

For example, numbered_systems.py declares systems 1 to 4, and experiments/league/alt_systems.py
declares alt-tornado-tcp and the other alternatives.

A module here or *_systems.py declares SYSTEMS, or SYSTEM if it has only one (core/system.py), as a
user's file does. The orchestrator asks for built_in(), find() and load_system(), each child for
system_of(). Declarations must import no library, because the orchestrator and all children import
them. Loading a user's file executes the user's code, adds its module to sys.modules and appends its
folder to sys.path, for the rest of the process.
"""

import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

from core.messages import AND, OR, BadInput, Json, Message, listed, message, verbatim
from core.system import CLIENT, PATH_KEY, SERVICE, System
from experiments import modules

# By role, sets of fields of System. A user's file gives one whole set, or a native program instead.
SIDES = {
    SERVICE: (["service"], ["command"]),
    CLIENT: (["encode", "decode", "check"], ["caller", "message"], ["client"]),
}
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")  # what may stand in file names and in cell_id


def find(name: str) -> System:
    """Return the built-in system with the number or name *name*. Raises BadInput, which lists all
    systems.

    If *name* leads to a file that declares the system, only this file is imported.
    """
    for system in _declared(sorted(_modules(), key=lambda module: not _is_like(module, name))):
        if name in (system.key, system.name):
            return system
    numbered = [system for system in built_in() if system.number]
    known: list[Message | str] = [
        message("{number} ({name})", number=system.number, name=system.name) for system in numbered
    ]
    known += [system.name for system in built_in() if not system.number]
    raise BadInput(
        "System {name!r} is not known. Use one of: {known}, or all.", name=name, known=listed(known)
    )


def system_of(first_line: Json) -> System:
    """Return the system that a child's first line names: the file that declares it, or its key."""
    return (
        load_system(Path(first_line[PATH_KEY]))
        if PATH_KEY in first_line
        else find(first_line["system"])
    )


@cache
def built_in() -> tuple[System, ...]:
    """Return all built-in systems: first the numbered systems in the order of their numbers, then
    all others.
    """
    systems = _declared(_modules())
    return tuple(
        sorted(systems, key=lambda one: (not one.number, one.number.zfill(4), one.group, one.name))
    )


def readers(name: str) -> list[str]:
    """Return which systems read the parameter *name*, as system numbers or names of groups of
    systems.

    Systems 1 to 4 appear as their numbers. All others appear as the names of their groups, such as
    the alternatives.
    """
    reading = [one for one in built_in() if one.takes(name)]
    numbered = [one.key for one in reading if one.group == "systems"]
    return [*numbered, *dict.fromkeys(one.group for one in reading if one.group != "systems")]


def _modules() -> list[str]:
    """Return the modules that declare systems. pkgutil is not used, because importing it takes 4 ms
    in every child.
    """
    here = Path(__file__).parent.glob("[!_]*.py")
    return [*(f"{__name__}.{path.stem}" for path in here), *modules("*_systems")]


def _is_like(module: str, name: str) -> bool:
    """Return whether *module* is named like the system *name*: s5_thread (docs/add-a-system.md)
    like 5, echo_systems like echo-libuv.
    """
    begin = module.rpartition(".")[2].removesuffix("_systems").replace("_", "-")
    return f"{name}-".startswith(f"{begin}-") or begin.startswith(f"s{name}-")


def _declared(modules: Iterable[str]) -> Iterator[System]:
    """Import each module when its turn comes, and yield the systems that the module declares."""
    for name in modules:
        module = importlib.import_module(name)
        yield from getattr(module, "SYSTEMS", None) or (module.SYSTEM,)


# ---- a user's file -------------------------------------------------------------------------------


def load_system(path: Path) -> System:
    """Return the SYSTEM that the file *path* declares. Child processes load the same file. Raises
    BadInput.

    A requirements file in the same folder is named by its whole path. The folder is appended to
    sys.path.
    """
    path = path.absolute()
    system = getattr(_loaded(path), "SYSTEM", None)
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


def _loaded(path: Path) -> ModuleType:
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
