"""The agent's files as one archive, named by its content: what is measured, and what starts it, on a host."""

import io
import platform
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from lab.digests import files_in
from lab.native import programs
from lab.places import REPOSITORY

FOLDERS = ("core", "services", "clients", "systems", "lab", "requirements")
SUFFIXES = (".py", ".txt")
CHECKOUT = "pyproject.toml"  # core.program tells a checkout by it, and the agent's files are laid out as one


@dataclass(frozen=True, kw_only=True)
class Archive:
    """digest: as lab/hosts/boot.py reckons it there."""

    content: bytes
    digest: str


def machine() -> str:
    """The architecture that native programs here are made for."""
    return platform.machine()


@cache
def archive(*, native: bool) -> Archive:
    """The files; *native* programs of this machine too, for a host of the same architecture."""
    sources = {CHECKOUT: b"", **{name: path.read_bytes() for name, path in _files(native=native)}}
    whole = sha256()
    files = [(name, sources[name], name.startswith("native/")) for name in sorted(sources, key=_walk_order)]
    for name, content, executable in files:
        whole.update(f"{name}\0{executable}\0{sha256(content).hexdigest()}\n".encode())
    return Archive(content=packed(files), digest=whole.hexdigest()[:32])


def packed(files: Iterable[tuple[str, bytes, bool]]) -> bytes:
    """An archive of these: name, content, and whether it is a program. The same for the same files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as entries:
        for name, content, executable in files:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o700 if executable else 0o600) << 16
            entries.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def _files(*, native: bool) -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS:
        for path in files_in(REPOSITORY / folder, SUFFIXES):
            yield Path(path).relative_to(REPOSITORY).as_posix(), Path(path)
    for name in programs.FOR_HOSTS if native else ():
        if not programs.missing(name):
            yield f"native/bin/{name}", programs.BUILDS[name].program


def _walk_order(name: str) -> list[tuple[bool, str]]:
    """The order of os.walk with sorted names: a folder's files, then its folders."""
    *folders, file = name.split("/")
    return [*((True, folder) for folder in folders), (False, file)]
