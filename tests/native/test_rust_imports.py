"""The modules of each Rust crate import one another in one direction: no circle. Sources are read, not compiled."""

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from lab.places import NATIVE_SOURCES

CRATES = sorted(
    path.parent
    for path in NATIVE_SOURCES.glob("**/Cargo.toml")
    if (path.parent / "src").is_dir() and "target" not in path.parts
)
_IMPORT = re.compile(r"\b(?P<root>crate|super)::(?P<path>\{[^;]*?\}|\w+(?:::\w+)*)", re.DOTALL)


def imports(crate: Path) -> dict[str, set[str]]:
    """The modules of *crate* by path (`engine::worker`), each with those that it imports outside its tests."""
    sources = {module_of(file, crate / "src"): file for file in (crate / "src").rglob("*.rs")}
    return {module: imported(module, file, sources) for module, file in sources.items()}


def module_of(file: Path, src: Path) -> str:
    """`engine::worker` for engine/worker.rs, `engine` for engine/mod.rs; "" for the root."""
    parts = [*file.relative_to(src).with_suffix("").parts]
    if parts[-1] in ("mod", "main", "lib"):
        parts.pop()
    return "::".join(parts)


def imported(module: str, file: Path, sources: Mapping[str, Path]) -> set[str]:
    """The modules that *file* names by `crate::` or `super::`."""
    text = file.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
    parent = "" if file.stem == "mod" else module.rpartition("::")[0]
    found = set()
    for match in _IMPORT.finditer(text):
        base = "" if match["root"] == "crate" else parent
        for name in re.findall(r"\w+(?:::\w+)*", match["path"]):
            found.add(longest_module(f"{base}::{name}".removeprefix("::"), sources))
    return found - {"", module}


def longest_module(path: str, sources: Mapping[str, Path]) -> str:
    """The module of *path*, which may go on to an item in it."""
    while path and path not in sources:
        path = path.rpartition("::")[0]
    return path


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_no_modules_import_each_other_in_a_circle(crate: Path) -> None:
    try:
        TopologicalSorter(imports(crate)).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
