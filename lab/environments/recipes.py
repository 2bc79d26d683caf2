"""What an environment is made of, down to the contents of every file that its requirements name."""

import hashlib
import json
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from core.messages import AND, Message, listed
from lab.environments.requirements import Requirements, constraint_files, content, local_path, read
from lab.places import REPOSITORY
from lab.python.interpreters import Interpreter

LAYOUT = 2  # 1 was built elsewhere and renamed, so that its scripts named an interpreter that was not there


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What is installed: a requirements file, wheels of our own (lab.native.wheels), or both.

    hashed: the file must have the hash of each package, as all of ours do; a user's may have none
    """

    requirements_file: Path | None = None
    hashed: bool = True
    wheels: tuple[Path, ...] = ()

    @property
    def label(self) -> Message:
        """What messages call it: the names of the files, of ours with the folder."""
        files = [self.requirements_file] if self.requirements_file else []
        return listed(map(_name, (*files, *self.wheels)), AND)

    @cached_property
    def wanted(self) -> Requirements:
        """What the requirements file and those that it names ask for. Raises BadInput."""
        return read(self.requirements_file) if self.requirements_file else Requirements()

    @property
    def folders(self) -> list[Path]:
        """The folders on this machine that it installs: '.', say."""
        return [path for entry in self.wanted.entries if (path := local_path(entry)) and path.is_dir()]


def _name(path: Path) -> str:
    return f"requirements/{path.name}" if path.parent == REPOSITORY / "requirements" else path.name


def folder_name(interpreter: Interpreter, contents: Contents) -> str:
    """The name of its folder: the same for whatever the files hold."""
    named = str(contents.requirements_file.absolute()) if contents.requirements_file else ""
    what = "\0".join((str(interpreter.executable), named, *(path.name for path in contents.wheels)))
    return f"{interpreter.name}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def stamp(interpreter: Interpreter, contents: Contents) -> str:
    """All that an environment is made from: another digest, executable or build needs another one. Raises BadInput."""
    facts = {
        "layout": LAYOUT,
        "requirements": hashlib.sha256("\n".join(_all_lines(contents.wanted)).encode()).hexdigest(),
        "wheels": [_digest(path) for path in contents.wheels],
        **interpreter.identity,
    }
    return json.dumps(facts, indent=1)


def build_anew(contents: Contents) -> list[str]:
    """Options of uv that have it build its folders again: it takes the wheel that it built before, else.

    --refresh does so too, but not where UV_OFFLINE is set.
    """
    names = [_project_name(folder) for folder in contents.folders]
    if not all(names):
        return ["--reinstall"]
    return [word for name in names for word in ("--reinstall-package", name)]


def _all_lines(wanted: Requirements, outer: tuple[Path, ...] = ()) -> list[str]:
    """Every line that matters, of constraint files too, and the digests of archives that are installed."""
    lines = [*wanted.options, *wanted.entries]
    archives = [path for entry in wanted.entries if (path := local_path(entry)) and path.is_file()]
    lines += [_digest(path) for path in archives]
    for path in constraint_files(wanted):
        if path not in outer:
            lines += _all_lines(read(path), (*outer, path))
    return lines


def _project_name(folder: Path) -> str:
    """What pyproject.toml calls the project; "" if it does not say."""
    try:
        manifest: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        return str(manifest.get("project", {}).get("name", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _digest(path: Path) -> str:
    return hashlib.sha256(content(path)).hexdigest()
