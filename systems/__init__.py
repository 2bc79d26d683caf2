"""The systems: one short file each, which declares a SYSTEM. A file here, or given by its path, is a system.

Those with a number stand here, others in the folder that their name begins with: alt-rpyc-pool is alt/rpyc_pool.py.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from core.errors import BadInput
from core.system import System
from core.system_file import SUFFIX, file_of, load_system

REGISTERED: dict[str, System] = {}


def find(asked: str) -> System:
    """The system with that number or name, or in that file (*.py) outside the repository.

    Imports no other where the file is named s<number>_*, or by the name. Raises BadInput with the systems there are.
    """
    if asked.endswith(SUFFIX):
        return _outside(Path(asked).absolute())
    for system in REGISTERED.values():
        if asked in (system.key, system.name):
            return system
    for module in _modules(f"s{asked}_") or _modules(str(asked).replace("-", "_")) or _modules(""):
        system = _system(module)
        if asked in (system.key, system.name):
            return system
    known = ", ".join(f"{one.number} ({one.name})" if one.number else one.name for one in every())
    raise BadInput(f"System {asked!r} is not known; accepted are {known}, and all.")


@cache
def every() -> tuple[System, ...]:
    """All systems, those with a number first, in its order."""
    systems = (*(_system(module) for module in _modules("")), *REGISTERED.values())
    return tuple(sorted(systems, key=lambda one: (not one.number, one.number.zfill(4), one.group, one.name)))


def register(system: System) -> System:
    """Make a system known to this process that is no file here: a service of the user's. It replaces its namesake."""
    REGISTERED[system.key] = system
    every.cache_clear()
    return system


def _outside(path: Path) -> System:
    """The system in the file *path*, made known to this process. Raises BadInput where its number or name is taken."""
    for one in REGISTERED.values():
        if file_of(one) == str(path):
            return one
    system = load_system(path)
    for one in every():
        for word in sorted({one.key, one.name} & {system.key, system.name}):
            where = file_of(one) or "this repository"
            raise BadInput(
                f"{path} declares the system {word!r}, which is taken by {one.title!r} of {where}; "
                "give its SYSTEM another number, or another name and no number."
            )
    return register(system)


def readers(name: str) -> list[str]:
    """Who reads the parameter *name*: the four systems by number, the others by the group they belong to."""
    reading = [one for one in every() if name in one.parameters]
    return list(dict.fromkeys(one.key if one.group == "systems" else one.group for one in reading))


def _modules(prefix: str) -> list[str]:
    found = (one for one in pkgutil.walk_packages(__path__, f"{__name__}.") if not one.ispkg)
    names = (one.name.removeprefix(f"{__name__}.") for one in found)
    return [name for name in names if name.replace(".", "_").startswith(prefix) and name != "__main__"]


def _system(name: str) -> System:
    module: ModuleType = importlib.import_module(f"{__name__}.{name}")
    system = module.SYSTEM
    assert isinstance(system, System), f"{module.__file__} declares no SYSTEM"
    return system
