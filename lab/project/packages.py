"""Read a project's dependencies from pyproject.toml and its lock file, or from requirements.txt.

Source: packaging.python.org - pyproject.toml, dependency groups, pylock.toml; docs.astral.sh/uv - uv export.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.dependency_groups import resolve_dependency_groups

from core.errors import BadInput
from core.messages import Message, listed, message, verbatim
from lab.environments.requirements import local_path, locked_entry, normalised, read
from lab.processes import scrubbed_environment
from lab.python import uv

MANIFEST, UV_LOCK, PYLOCK, REQUIREMENTS = "pyproject.toml", "uv.lock", "pylock.toml", "requirements.txt"
EXPORT_TIMEOUT_S = 120.0
_CHOSEN = re.compile(r"""["']([^"']+)["'] in (?:extras|dependency_groups)""")


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """The dependencies of a project.

    entries: lines of a requirements file; source: the files that they come from
    installs: whether one of the entries is the project itself
    """

    entries: tuple[str, ...]
    source: Message
    installs: bool = False


def read_dependencies(folder: Path, extras: Sequence[str] = (), groups: Sequence[str] = ()) -> Dependencies | None:
    """Return the dependencies of the project in *folder*, including *extras* and dependency *groups*; None if unknown.

    The project itself is installed if its pyproject.toml has a [build-system], as uv does. Otherwise its modules are
    imported from its folder. Raises BadInput if a file cannot be read, or if an extra or group does not exist.
    """
    manifest = _toml(folder / MANIFEST)
    project = manifest.get("project", {})
    installs = "build-system" in manifest
    if not project and not installs:
        return _without_manifest(folder, (*extras, *groups))
    _expect(message("optional dependency group"), extras, project.get("optional-dependencies", {}))
    _expect(message("dependency group"), groups, manifest.get("dependency-groups", {}))
    brackets = f"[{','.join(extras)}]" if extras else ""
    itself = [f"{folder}{brackets}"] if installs else []
    lock, locked = _locked(folder, extras, groups)
    if lock:
        source = message("{file}, with the versions from {lock}", file=MANIFEST, lock=lock)
        return Dependencies(entries=(*locked, *itself), source=source, installs=installs)
    listed_there = [] if installs else _dependencies(project, extras)
    try:
        in_groups = resolve_dependency_groups(manifest.get("dependency-groups", {}), *groups)
    except ExceptionGroup as error:
        raise _unreadable(folder / MANIFEST, error.exceptions[0]) from None
    return Dependencies(entries=(*listed_there, *itself, *in_groups), source=verbatim(MANIFEST), installs=installs)


def _without_manifest(folder: Path, unknown: Sequence[str]) -> Dependencies | None:
    if unknown:
        raise BadInput(
            "{folder} has no pyproject.toml with a [project] table, so it has no extra or dependency group {names}.",
            folder=str(folder),
            names=listed(unknown),
        )
    lock, locked = _locked(folder, (), ())
    if lock:
        return Dependencies(entries=locked, source=verbatim(lock))
    if not (folder / REQUIREMENTS).is_file():
        return None
    wanted = read(folder / REQUIREMENTS)
    if not wanted.hashed:
        return Dependencies(entries=(f"-r {folder / REQUIREMENTS}",), source=verbatim(REQUIREMENTS))
    pins = (entry.partition(" --hash")[0] for entry in wanted.entries)
    options = (option for option in wanted.options if option != "--require-hashes")
    source = message("{file}, without package hashes because a server package may be added", file=REQUIREMENTS)
    return Dependencies(entries=(*options, *pins), source=source)


def _locked(folder: Path, extras: Sequence[str], groups: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the name and the entries of the project's lock file; "" and no entries if there is no lock file."""
    if (folder / UV_LOCK).is_file():
        return UV_LOCK, _exported(folder, extras, groups)
    if (folder / PYLOCK).is_file():
        return PYLOCK, tuple(_pinned(_toml(folder / PYLOCK), folder, {*extras, *groups}))
    return "", ()


def _exported(folder: Path, extras: Sequence[str], groups: Sequence[str]) -> tuple[str, ...]:
    """Export uv.lock as lines of a requirements file, by running uv. Does not change uv.lock. Raises BadInput."""
    program = uv.find()
    if program is None:
        raise BadInput(
            "uv is needed to read {file}, but uv was not found. Install it with: pip install uv", file=UV_LOCK
        )
    chosen = [word for name in extras for word in ("--extra", name)]
    chosen += [word for name in groups for word in ("--group", name)]
    form = ["--no-hashes", "--no-header", "--no-annotate", "--no-emit-project", "--no-default-groups", "--offline"]
    command = [str(program), "export", "--frozen", *form, *chosen, "--project", str(folder)]
    lines, failure = uv.run(command, EXPORT_TIMEOUT_S, scrubbed_environment(), folder=folder)
    if failure:
        raise BadInput("{file} cannot be read: {reason}.", file=str(folder / UV_LOCK), reason=failure)
    return tuple(_absolute(line.strip(), folder) for line in lines.splitlines() if line.strip())


def _absolute(line: str, folder: Path) -> str:
    """Return *line* of a requirements file; a path relative to the project's *folder* becomes absolute."""
    option, path = re.match(r"(-e )?(.*)", line).groups("")  # type: ignore[union-attr]
    return f"{option}{folder / path}" if path.startswith((".", "/")) and local_path(str(folder / path)) else line


def _pinned(lock: Mapping[str, Any], folder: Path, chosen: set[str]) -> Iterator[str]:
    """Yield a requirements line for each package in a pylock.toml, with its version or location and its marker."""
    for package in _tables(lock.get("packages")):
        marker = _CHOSEN.sub(
            lambda match: f"python_version {'>' if match[1] in chosen else '<'} '3'", str(package.get("marker", ""))
        )
        entry = locked_entry(package, folder)
        if entry and not entry.endswith(f" @ {folder.resolve().as_uri()}"):
            yield f"{entry}{f' ; {marker}' if marker else ''}"


def _dependencies(project: Mapping[str, Any], extras: Sequence[str]) -> list[str]:
    optional = {normalised(name): lines for name, lines in project.get("optional-dependencies", {}).items()}
    return [*project.get("dependencies", []), *(line for name in extras for line in optional[normalised(name)])]


def _expect(kind: Message, names: Sequence[str], table: Mapping[str, Any]) -> None:
    known = set(map(normalised, table))
    for name in names:
        if normalised(name) not in known:
            raise BadInput(
                "pyproject.toml has no {kind} {name}. Available: {known}.",
                kind=kind,
                name=name,
                known=listed(table) if table else message("none"),
            )


def _tables(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _toml(path: Path) -> dict[str, Any]:
    """Return the parsed content of a TOML file; {} if the file does not exist. Raises BadInput."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> BadInput:
    return BadInput("{path} cannot be read: {reason}.", path=str(path), reason=str(error))
