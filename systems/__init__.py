"""Find the systems (services with their clients) that this folder and the experiments' *_systems.py
files declare.

For example, numbered_systems.py declares systems 1 to 4, and experiments/league/alt_systems.py
declares alt-tornado-tcp and the other alternatives.

A module here or *_systems.py declares SYSTEMS, or SYSTEM if it has only one (core/system.py). The
orchestrator asks for built_in() and find(), each child for system_of(). Declarations must import no
library, because the orchestrator and all children import them.
"""

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.messages import Message, listed, message
from core.system import System
from core.system_file import PATH_KEY, load_system
from experiments import modules


def find(name: str) -> System:
    """Return the built-in system with the number or name *name*. Raises BadInput, which lists all
    systems.

    If *name* leads to a file that declares the system, only this file is imported.
    """
    for names in (_named_like(name), _modules()):
        for system in _declared(names):
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


def system_of(first_line: Mapping[str, Any]) -> System:
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
    names = (
        file.removesuffix(".py")
        for folder in __path__
        for file in os.listdir(folder)
        if file.endswith(".py")
    )
    return [
        *(f"{__name__}.{name}" for name in names if not name.endswith("__")),
        *modules("*_systems"),
    ]


def _named_like(name: str) -> list[str]:
    """Return the modules that could declare the system *name*: s5_thread (docs/add-a-system.md) for
    5, echo_systems for echo-libuv.
    """
    dashed = {
        module: module.rpartition(".")[2].removesuffix("_systems").replace("_", "-")
        for module in _modules()
    }
    return [
        module
        for module, begin in dashed.items()
        if f"{name}-".startswith(f"{begin}-") or begin.startswith(f"s{name}-")
    ]


def _declared(modules: Iterable[str]) -> Iterator[System]:
    """Import each module when its turn comes, and yield the systems that the module declares."""
    for name in modules:
        module = importlib.import_module(name)
        yield from getattr(module, "SYSTEMS", None) or (module.SYSTEM,)
