"""Find systems by number, by name, or in a file outside the repository that declares a system."""

from pathlib import Path

from core.errors import BadInput
from core.system import System
from core.system_file import SUFFIX, load_system
from systems import built_in, find


def find_system(name: str, folder: Path = Path()) -> System:
    """Return the system *name*: a number, a name, or a .py file in *folder* that declares the system.

    Raises BadInput.
    """
    if not name.endswith(SUFFIX):
        return find(name)
    path = (folder / name).absolute()
    system = load_system(path)
    for other in built_in():
        for taken in sorted({other.key, other.name} & {system.key, system.name}):
            raise BadInput(
                "{path} declares the system {name!r}, but gilscope has a system of that name: {title!r}. Change "
                "the number or the name of SYSTEM in that file.",
                path=path,
                name=taken,
                title=other.title,
            )
    return system


def system_names() -> list[str]:
    """Return the names of the systems that come with gilscope."""
    return [system.name for system in built_in()]


def find_systems(names: str) -> list[System]:
    """Return the systems of a comma-separated list. "all" means the systems with a number. Raises BadInput."""
    systems: dict[str, System] = {}
    for name in names.split(","):
        numbered = [system for system in built_in() if system.group == "systems"]
        for system in numbered if name.strip() == "all" else [find_system(name.strip())]:
            systems.setdefault(system.key, system)
    return list(systems.values())
