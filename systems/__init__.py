"""The systems: one short file each, which declares a SYSTEM.

Those with a number stand here, others in the folder that their name begins with: alt-rpyc-pool is alt/rpyc_pool.py.
"""

import importlib
import os
from functools import cache
from types import ModuleType

from core.errors import BadInput
from core.messages import listed, message
from core.system import System


def find(name: str) -> System:
    """The built-in system with that number or name.

    Imports no other where the file is named s<number>_*, or by the name. Raises BadInput with the systems there are.
    """
    for module in _modules(f"s{name}_") or _modules(str(name).replace("-", "_")) or _modules(""):
        system = _system(module)
        if name in (system.key, system.name):
            return system
    known = [
        message("{number} ({name})", number=system.number, name=system.name) if system.number else system.name
        for system in built_in()
    ]
    raise BadInput("System {name!r} is not known; accepted are {known}, and all.", name=name, known=listed(known))


@cache
def built_in() -> tuple[System, ...]:
    """All built-in systems, those with a number first, in its order."""
    systems = (_system(module) for module in _modules(""))
    return tuple(sorted(systems, key=lambda one: (not one.number, one.number.zfill(4), one.group, one.name)))


def readers(name: str) -> list[str]:
    """Who reads the parameter *name*: the four systems by number, the others by the group they belong to."""
    reading = [one for one in built_in() if one.takes(name)]
    return list(dict.fromkeys(one.key if one.group == "systems" else one.group for one in reading))


def _modules(prefix: str) -> list[str]:
    """Return the modules whose names begin with *prefix*. To import pkgutil would cost every child 4 ms of CPU time."""
    names = (
        f"{path.removeprefix(folder)}/{file.removesuffix('.py')}".strip("/").replace("/", ".")
        for folder in __path__
        for path, _, files in os.walk(folder)
        for file in files
        if file.endswith(".py")
    )
    return [name for name in names if name.replace(".", "_").startswith(prefix) and not name.endswith("__")]


def _system(name: str) -> System:
    module: ModuleType = importlib.import_module(f"{__name__}.{name}")
    system: System = module.SYSTEM
    return system
