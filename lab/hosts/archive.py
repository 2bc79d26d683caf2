"""What travels to a host, as an archive: what is measured and what starts it, and a user's own files.

A user's files are the folder where the service is started, and what its requirements name.
"""

import io
import os
import platform
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.messages import Message, message, verbatim
from core.request_plan import RequestPlan
from lab.digests import files_in
from lab.environments.environment import requirements_file
from lab.environments.requirements import Requirements, read, relocate_paths
from lab.native import programs
from lab.places import ENVIRONMENTS, REPOSITORY

FOLDERS = ("core", "services", "clients", "systems", "experiments", "lab", "requirements")
SUFFIXES = (".py", ".txt")
CHECKOUT = "pyproject.toml"  # core.program tells a checkout by it, and the agent's files are laid out as one
MOST_BYTES = 64 << 20
MOST_FILES = 10_000
MOST_BODY_BYTES = 4 << 20
OWN = "own"  # the folder where the service is started, among its files
FILES = "{files}"  # in a line of requirements: where the files are there
LEFT_OUT = {".git", ".hg", ".svn", ".venv", ".tox", ".nox", "__pycache__", "node_modules", "gilscope-runs"} | {
    f".{tool}_cache" for tool in ("mypy", "pytest", "ruff")
}


def machine() -> str:
    """Return the architecture that native programs here are made for."""
    return platform.machine()


@cache
def agent(*, native: bool) -> bytes:
    """Return the agent's files; *native* programs of this machine too, for a host of the same architecture."""
    sources = [Path(path) for folder in FOLDERS for path in files_in(REPOSITORY / folder, SUFFIXES)]
    built = [name for name in programs.FOR_HOSTS if native and not programs.missing(name)]
    return _packed(
        [
            (CHECKOUT, b"", False),
            *((path.relative_to(REPOSITORY).as_posix(), path.read_bytes(), False) for path in sources),
            *((f"native/bin/{name}", programs.BUILDS[name].program.read_bytes(), True) for name in built),
        ]
    )


def _packed(files: Iterable[tuple[str, bytes, bool]]) -> bytes:
    """Return an archive of these: name, content, and whether it is a program."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as entries:
        for name, content, executable in files:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o700 if executable else 0o600) << 16
            entries.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


class _Roots:
    """Folders and files that are copied, by their names among the files."""

    def __init__(self, folder: Path) -> None:
        self.by_name = {OWN: folder.resolve()}

    def there(self, path: Path) -> str:
        """Where *path* is on the host: in one that is copied, or else it is copied too."""
        path = path.resolve()
        for name, root in self.by_name.items():
            if path.is_relative_to(root):
                return f"{FILES}/{Path(name, path.relative_to(root))}"
        name = f"{len(self.by_name)}/{path.name}"
        self.by_name[name] = path
        return f"{FILES}/{name}"


def user_files(own: Mapping[str, Any]) -> tuple[bytes, list[str]]:
    """Return the files of the service *own* (core.user_service.Command), and its requirements, with FILES in paths.

    Raises BadInput if the files are too many or too large.
    """
    roots = _Roots(Path(own["directory"]))
    file = requirements_file(own["requirements"], own["packages"], ENVIRONMENTS)
    wanted = read(Path(file)) if file else Requirements()
    lines = [relocate_paths(line, roots.there) for line in (*wanted.options, *wanted.entries)]
    try:
        files = [file for root in roots.by_name.items() for file in _files(*root)]
        content = _packed((name, path.read_bytes(), os.access(path, os.X_OK)) for name, path in files)
    except OSError as error:
        raise BadInput(
            "{path} cannot be copied to a host: {error}. Give access to it, or leave it out of the folder.",
            path=str(error.filename),
            error=error.strerror,
        ) from None
    return content, lines


def with_bodies(own: Mapping[str, Any]) -> dict[str, Any]:
    """The requests of the service, with what their files hold in place of those that are there. Raises BadInput."""
    plan = RequestPlan.from_json(own["requests"])
    files = [path for request in plan.requests if request.body_file and (path := Path(request.body_file)).is_file()]
    _check_size(message("Files of bodies"), set(files), MOST_BODY_BYTES)
    bodies = {str(path): path.read_bytes().decode(errors="surrogateescape") for path in files}
    requests = tuple(
        replace(request, body=bodies[request.body_file], body_file="") if request.body_file in bodies else request
        for request in plan.requests
    )
    return {"requests": replace(plan, requests=requests).to_json()}


def _files(name: str, root: Path) -> list[tuple[str, Path]]:
    """The regular files below *root*, or that file itself, with their names in the archive. Raises BadInput."""
    paths = [root] if root.is_file() else list(islice(_walk(root), MOST_FILES + 1))
    if len(paths) > MOST_FILES:
        raise BadInput(
            "{folder} has more than {count} files; so many are not copied. Name a smaller folder: --directory",
            folder=str(root),
            count=MOST_FILES,
        )
    _check_size(verbatim(str(root)), paths, MOST_BYTES)
    return [(str(Path(name, path.relative_to(root))), path) for path in paths]


def _walk(root: Path) -> Iterator[Path]:
    for here, below, names in os.walk(root):
        below[:] = sorted(
            name for name in below if name not in LEFT_OUT and not Path(here, name, "pyvenv.cfg").exists()
        )
        paths = (Path(here, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and path.resolve().is_relative_to(root))


def _check_size(what: Message, paths: Iterable[Path], most_bytes: int) -> None:
    size_bytes = sum(path.stat().st_size for path in paths)
    if size_bytes > most_bytes:
        raise BadInput(
            "{what}: {size_mib:.1f} MiB; at most {most_mib} MiB are copied to a host. Leave out what the service does "
            "not need, such as by --directory.",
            what=what,
            size_mib=size_bytes / 2**20,
            most_mib=most_bytes >> 20,
        )
