"""The systems: one short file each, which declares a SYSTEM. A file here is a system that is built in.

Those with a number stand here, others in the folder that their name begins with: alt-rpyc-pool is alt/rpyc_pool.py.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.errors import BadInput
from core.messages import listed, message
from core.system import System
from core.system_file import SUFFIX, file_of, load_system

REGISTERED: dict[str, System] = {}  # removed once plans own their systems


@cache
def built_in() -> Mapping[str, System]:
    """The systems of this repository by key: those with a number first, in its order."""
    systems = sorted(
        map(_system, _modules("")), key=lambda each: (not each.number, each.number.zfill(4), each.group, each.name)
    )
    return MappingProxyType({system.key: system for system in systems})


def find(key: str) -> System:
    """The built-in system with that number or name. Raises BadInput with those there are.

    No other is imported where its file is named s<number>_*, or by the name.
    """
    if key.endswith(SUFFIX):
        return _registered(Path(key).absolute())
    for system in REGISTERED.values():  # removed once plans own their systems
        if key in (system.key, system.name):
            return system
    for module in _modules(f"s{key}_") or _modules(key.replace("-", "_")) or _modules(""):
        system = _system(module)
        if key in (system.key, system.name):
            return system
    known = [f"{system.number} ({system.name})" if system.number else system.name for system in every()]
    raise BadInput("System {name!r} is not known; accepted are {known}, and all.", name=key, known=listed(known))


def outside(path: Path, others: Iterable[System] = ()) -> System:
    """The system that a file outside the repository declares.

    others: what it must not share its number or its name with, beside those built in
    Raises BadInput.
    """
    system = load_system(path)
    for other in (*built_in().values(), *others):
        for name in sorted({other.key, other.name} & {system.key, system.name}):
            raise BadInput(
                "{path} declares the system {name!r}, which is taken by {title!r} of {owner}; "
                "give its SYSTEM another number, or another name and no number.",
                path=file_of(system),
                name=name,
                title=other.title,
                owner=file_of(other) or message("this repository"),
            )
    return system


def readers(name: str) -> list[str]:
    """Who reads the parameter *name*: the four systems by number, the others by the group they belong to."""
    systems = [system for system in built_in().values() if name in system.parameters]
    return list(dict.fromkeys(system.key if system.group == "systems" else system.group for system in systems))


@cache
def every() -> tuple[System, ...]:  # removed once plans own their systems
    """All systems that are known: built in and registered."""
    return (*built_in().values(), *REGISTERED.values())


def register(system: System) -> System:  # removed once plans own their systems
    """Make a system known to this process that is no file here. It replaces its namesake."""
    REGISTERED[system.key] = system
    every.cache_clear()
    return system


def _registered(path: Path) -> System:  # removed once plans own their systems
    for system in REGISTERED.values():
        if file_of(system) == str(path):
            return system
    return register(outside(path, REGISTERED.values()))


def _modules(prefix: str) -> list[str]:
    modules = (module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.") if not module.ispkg)
    names = (name.removeprefix(f"{__name__}.") for name in modules)
    return [name for name in names if name.replace(".", "_").startswith(prefix) and name != "__main__"]


def _system(name: str) -> System:
    module = importlib.import_module(f"{__name__}.{name}")
    system = module.SYSTEM
    assert isinstance(system, System), f"{module.__file__} declares no SYSTEM"
    return system
