"""What a requirements file asks for, line by line, so that each package can be tried alone.

Source: pip.pypa.io/en/stable/reference/requirements-file-format
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput
from core.messages import Arg, message

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_ARCHIVE = re.compile(r"([A-Za-z0-9._]+?)-[0-9][^/]*\.(?:whl|tar\.gz|zip)$")
_COMMENT = re.compile(r"(^|\s)#.*$")
_FILE = re.compile(r"(?:-r|--requirement)[ =]*(.+)")
_CONSTRAINT = re.compile(r"(?:-c|--constraint)[ =]*(.+)")
_PATH_OPTION = re.compile(r"(?:-c|--constraint|-f|--find-links)[ =]*(.+)")
_EDITABLE = re.compile(r"(?:-e|--editable)[ =]*")
_AFTER_TARGET = re.compile(r"\s+(?:;|--|@).*$|\[[^\]/]*\]$")


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """options: lines that hold for all, such as an index. entries: one for each package, with its hashes."""

    options: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()

    @property
    def hashed(self) -> bool:
        """Whether entries have hashes; then every package that is needed has an entry of its own."""
        return any("--hash" in entry for entry in self.entries)


def read(path: Path) -> Requirements:
    """What the file asks for, with the files that it names with -r. Raises BadInput if one cannot be read."""
    return _read(path, ())


def content(path: Path) -> bytes:
    """What a requirements file or a package holds. Raises BadInput."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror) from None


def _unreadable(path: Path, reason: Arg) -> BadInput:
    name = str(path)
    return BadInput("{path} cannot be read ({reason}); name a requirements file, or a wheel.", path=name, reason=reason)


def constraint_files(wanted: Requirements) -> list[Path]:
    """The files on this machine that its options name with -c, in their order."""
    constraints = filter(None, map(_CONSTRAINT.fullmatch, wanted.options))
    return [Path(match[1].strip()) for match in constraints if "://" not in match[1]]


def local_path(entry: str) -> Path | None:
    """The folder or archive on this machine that an entry installs; None where it names a package or an address.

    A relative one begins in the current folder, as for pip and uv.
    """
    text = _target(entry)
    if "://" in text or not (text.startswith((".", "/", "~")) or "/" in text):
        return None
    path = Path(text).expanduser()
    return path if path.exists() else None


def moved(line: str, place: Callable[[Path], str]) -> str:
    """A line of a requirements file with *place* of its path, where it names one on this machine."""
    if match := _PATH_OPTION.fullmatch(line):
        return line if "://" in match[1] else line[: match.start(1)] + place(Path(match[1].strip()))
    path = local_path(line)
    return line.replace(_target(line), place(path), 1) if path else line


def _target(entry: str) -> str:
    name, at, address = entry.partition("@ ")
    text = _EDITABLE.sub("", address if at and not name.startswith((".", "/")) else entry, count=1).strip()
    return _AFTER_TARGET.sub("", _AFTER_TARGET.sub("", text)).removeprefix("file://").removeprefix("file:")


def listed(packages: Sequence[str]) -> Requirements:
    """Packages that were named one by one. Raises BadInput for what is not a package, such as an option."""
    for package in packages:
        if not package.strip() or package.startswith("-") or "\n" in package:
            remedy = message("name one, such as numpy or numpy==2.3.5, or a wheel's path")
            raise BadInput("{package} is not a package; {remedy}.", package=repr(package), remedy=remedy)
    return Requirements(entries=tuple(dict.fromkeys(packages)))


def name_of(entry: str) -> str:
    """The package that an entry asks for, by its normalised name; the entry itself where it does not say."""
    archive = _ARCHIVE.search(entry.split(maxsplit=1)[0])
    name = archive[1] if archive else entry
    match = _NAME.match(name)
    local = entry.startswith((".", "/", "-")) or "://" in entry.split(maxsplit=1)[0]
    return normalised(match[0]) if match and (archive or not local) else entry


def normalised(name: str) -> str:
    """The name as indexes compare it. Source: packaging.python.org, name normalization."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(path: Path, outer: tuple[Path, ...]) -> Requirements:
    """outer: the files that led here, the first one that the user named."""
    if path.resolve() in outer:
        chain, first = " -> ".join(file.name for file in (*outer, path)), str(outer[0])
        raise BadInput("{path} names itself with -r: {chain}. Remove one of these lines.", path=first, chain=chain)
    return parsed(_lines(path), path.parent, (*outer, path.resolve()))


def parsed(lines: Iterable[str], folder: Path, outer: tuple[Path, ...] = ()) -> Requirements:
    """What lines without comments ask for, whose paths begin in *folder*. Raises BadInput."""
    options: list[str] = []
    entries: list[str] = []
    for line in lines:
        nested = _FILE.fullmatch(line)
        if nested and "://" not in nested[1]:
            inner = _read(folder / nested[1].strip(), outer)
            options += inner.options
            entries += inner.entries
        elif line.startswith("-") and not line.startswith(("-e", "--editable")):
            options.append(moved(line, lambda path: str((folder / path).resolve())))
        else:
            entries.append(line)
    return Requirements(options=tuple(dict.fromkeys(options)), entries=tuple(dict.fromkeys(entries)))


def _lines(path: Path) -> Iterator[str]:
    """The lines without comments; one that ends in a backslash goes on in the next."""
    try:
        text = content(path).decode()
    except UnicodeDecodeError:
        raise _unreadable(path, message("it is not UTF-8")) from None
    for line in text.replace("\\\n", " ").splitlines():
        bare = " ".join(_COMMENT.sub("", line).split())
        if bare:
            yield bare
