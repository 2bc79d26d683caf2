"""A user's files on the services' host: the folder where the service is started, and what its requirements name.

They travel as an archive named by its content, are kept in the cache folder there, and are unpacked anew for each
connection, so that what a service has written there is gone.
"""

import errno
import os
import shutil
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadInput
from core.files import put
from core.messages import Message, message, verbatim
from core.request_plan import RequestPlan
from lab import locks
from lab.environments.environment import requirements_file
from lab.environments.requirements import Requirements, moved, read
from lab.folders import empty
from lab.hosts.archive import packed
from lab.hosts.boot import cache, extract
from lab.places import ENVIRONMENTS

if TYPE_CHECKING:
    from lab.hosts.connection import Connection

MOST_BYTES = 64 << 20
MOST_FILES = 10_000
MOST_BODY_BYTES = 4 << 20
PART_BYTES = 512 << 10  # one round trip each, so that neither side thinks the other is gone
KEPT = 4  # archives on a host
OWN = "own"  # the folder where the service is started, among its files
FILES = "{files}"  # in a line of requirements: where the files are there
LEFT_OUT = {".git", ".hg", ".svn", ".venv", ".tox", ".nox", "__pycache__", "node_modules", "gilscope-runs"} | {
    f".{tool}_cache" for tool in ("mypy", "pytest", "ruff")
}


@dataclass(frozen=True, kw_only=True)
class UserFiles:
    """content: an archive, named by its digest. requirements: lines of a file, with FILES in paths."""

    content: bytes
    name: str
    requirements: tuple[str, ...]


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


def user_files(own: Mapping[str, Any]) -> UserFiles:
    """The files of the service *own* (core.user_service.Command). Raises BadInput if they are too many or too large."""
    roots = _Roots(Path(own["directory"]))
    file = requirements_file(own["requirements"], own["packages"], ENVIRONMENTS)
    wanted = read(Path(file)) if file else Requirements()
    lines = tuple(moved(line, roots.there) for line in (*wanted.options, *wanted.entries))
    try:
        files = [file for root in roots.by_name.items() for file in _files(*root)]
        content = packed((name, path.read_bytes(), os.access(path, os.X_OK)) for name, path in files)
    except OSError as error:
        raise BadInput(
            "{path} cannot be copied to a host: {error}. Give access to it, or leave it out of the folder.",
            path=str(error.filename),
            error=error.strerror,
        ) from None
    return UserFiles(content=content, name=_name(content), requirements=lines)


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


def bring(connection: "Connection", files: UserFiles) -> str:
    """Where the files are on that host; they are sent unless it has them. Raises ChildFailed."""
    place = connection.call("files", name=files.name, part="", last=False)
    for start in range(0, len(files.content), PART_BYTES):
        if not place:
            part, last = files.content[start : start + PART_BYTES], start + PART_BYTES >= len(files.content)
            place = connection.call("files", name=files.name, part=b64encode(part).decode(), last=last)
    return str(place)


class Arriving:
    """On a host: the archives that come, piece by piece."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._places: dict[str, int] = {}

    def take(self, name: str, part: str, last: bool) -> str:
        """Where the files of that archive are; "" until all of it has come. Raises OSError."""
        self._content += b64decode(part)
        archive = Path(cache(), f"files-{name}.zip")
        if last:
            content, self._content = bytes(self._content), bytearray()
            if _name(content) != name:
                raise OSError(errno.EIO, "what arrived is not what was sent", str(archive))
            put(archive, content)
            _prune(archive)
        place = archive.with_suffix("")
        if str(place) not in self._places:
            if not archive.exists() or _name(content := archive.read_bytes()) != name:
                return ""
            os.utime(archive)
            self._places[str(place)] = _unpacked(content, place)
        return str(place)


def _name(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]


def _unpacked(content: bytes, place: Path) -> int:
    """Anew, unless another run uses them; a lock that says that we do."""
    lock = locks.take(place, wait=False)
    if lock is not None:
        empty(place)
        extract(content, str(place))
        os.close(lock)
    used = locks.take(place, shared=True)
    assert used is not None, "it waits"
    return used


def _prune(newest: Path) -> None:
    """Remove the oldest archives, but for those that a run uses."""
    by_age = sorted(newest.parent.glob("files-*.zip"), key=lambda path: path.stat().st_mtime)
    for archive in by_age[:-KEPT]:
        lock = locks.take(archive.with_suffix(""), wait=False)
        if lock is not None and archive != newest:
            shutil.rmtree(archive.with_suffix(""), ignore_errors=True)
            archive.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


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
