"""Parse requirements files into lines, so that each package can be installed alone.

Nothing is resolved or installed here: environment.py and resolution.py do so. This module also
runs on other hosts, with the standard library alone.

Source: pip.pypa.io/en/stable/reference/requirements-file-format
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from core.messages import Arg, BadInput, Json, message

# the package at the beginning of a requirement
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
# the package of a wheel or source archive, by the end of its path or URL
_ARCHIVE = re.compile(r"([A-Za-z0-9._]+?)-[0-9][^/]*\.(?:whl|tar\.gz|zip)$")
_COMMENT = re.compile(r"(^|\s)#.*$")
_FILE = re.compile(r"(?:-r|--requirement)[ =]*(.+)")
_CONSTRAINT = re.compile(r"(?:-c|--constraint)[ =]*(.+)")
_PATH_OPTION = re.compile(r"(?:-c|--constraint|-f|--find-links)[ =]*(.+)")
_EDITABLE = re.compile(r"(?:-e|--editable)[ =]*")
# what may follow a path or URL: a marker, options of the line, an address; or extras
_AFTER_TARGET = re.compile(r"\s+(?:;|--|@).*$|\[[^\]/]*\]$")


class Requirements(NamedTuple):
    """The lines of a requirements file.

    options: lines that apply to all packages, such as an index; entries: one line per package, with
        its hashes
    """

    options: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()

    @property
    def hashed(self) -> bool:
        """Whether the requirements have hashes. If so, every package that will be installed has its
        own entry.
        """
        return any("--hash" in entry for entry in self.entries)

    @property
    def local_paths(self) -> list[Path]:
        """The local folders and archives that the entries install."""
        return [*filter(None, map(local_path, self.entries))]

    @property
    def constraint_files(self) -> list[Path]:
        """The paths of the local constraint files that the options name with -c."""
        constraints = filter(None, map(_CONSTRAINT.fullmatch, self.options))
        return [Path(match[1].strip()) for match in constraints if "://" not in match[1]]


def read(path: Path, outer: tuple[Path, ...] = ()) -> Requirements:
    """Parse a requirements file and the files that it includes with -r. Raises BadInput if one
    cannot be read.

    outer: the files that include it; the first is the file that the user gave
    """
    if path.resolve() in outer:
        chain, first = " -> ".join(file.name for file in (*outer, path)), str(outer[0])
        raise BadInput(
            "{path} includes itself with -r: {chain}. Remove one of these lines.",
            path=first,
            chain=chain,
        )
    return parsed(_lines(path), path.parent, (*outer, path.resolve()))


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a requirements file or a wheel. Raises BadInput."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror) from None


def _unreadable(path: Path, reason: Arg) -> BadInput:
    return BadInput(
        "{path} cannot be read ({reason}). Give a requirements file or a wheel.",
        path=path,
        reason=reason,
    )


def local_path(entry: str) -> Path | None:
    """Return the local folder or archive that a requirement installs; None if it is a package name
    or a URL.

    A relative path starts in the current folder, as for pip and uv.
    """
    text = _target(entry)
    if "://" in text or not (text.startswith((".", "/", "~")) or "/" in text):
        return None
    path = Path(unquote(text) if "file:" in entry else text).expanduser()
    return path if path.exists() else None


def relocate_paths(line: str, place: Callable[[Path], str]) -> str:
    """Replace the local path in a line of a requirements file by place(path). Return other lines
    unchanged.
    """
    if match := _PATH_OPTION.fullmatch(line):
        return line if "://" in match[1] else line[: match.start(1)] + place(Path(match[1].strip()))
    path = local_path(line)
    return line.replace(_target(line), place(path), 1) if path else line


def _target(entry: str) -> str:
    # the part of a requirement that may be a path: without -e, extras, markers and file:
    name, at, address = entry.partition("@ ")
    target = address if at and not name.startswith((".", "/")) else entry
    text = _EDITABLE.sub("", target, count=1).strip()
    text = _AFTER_TARGET.sub("", _AFTER_TARGET.sub("", text))
    return text.removeprefix("file:").removeprefix("//")


def from_names(packages: Sequence[str]) -> Requirements:
    """Make requirements from package names or wheel paths. Raises BadInput if an item is neither,
    such as an option.
    """
    for package in packages:
        if not package.strip() or package.startswith("-") or "\n" in package:
            remedy = message("give a name such as numpy or numpy==2.3.5, or the path of a wheel")
            raise BadInput(
                "{package} is not a package; {remedy}.", package=repr(package), remedy=remedy
            )
    return Requirements(entries=tuple(dict.fromkeys(packages)))


def name_of(entry: str) -> str:
    """Return the normalised package name in a requirement; the requirement itself if it names no
    package.
    """
    first_word, *_ = entry.split()
    if archive := _ARCHIVE.search(first_word):
        return normalised(archive[1])
    # a path begins with no letter, and neither does an option
    match = None if "://" in first_word else _NAME.match(entry)
    return normalised(match[0]) if match else entry


def normalised(name: str) -> str:
    """Return a package name in the normal form in which package indexes compare names.

    Source: packaging.python.org, name normalization.
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def locked_entry(package: Json, folder: Path) -> str:
    """Return the requirement that installs exactly the locked *package*; "" if its version is
    unknown.

    package: an item of `packages` in the pylock.toml of *folder*
    """
    name = normalised(str(package.get("name", "")))
    place = package.get("vcs") or package.get("archive") or package.get("directory")
    if not place:
        return f"{name}=={package['version']}" if "version" in package else ""
    url = place.get("url") or Path(folder, str(place.get("path", ""))).resolve().as_uri()
    if "vcs" in package:
        url = f"{place.get('type', 'git')}+{url}@{place['commit-id']}"
    folder_in_it = f"#subdirectory={place['subdirectory']}" if "subdirectory" in place else ""
    return f"{name} @ {url}{folder_in_it}"


def parsed(lines: Iterable[str], folder: Path, outer: tuple[Path, ...] = ()) -> Requirements:
    """Parse requirements *lines* that have no comments. Relative paths start in *folder*. Raises
    BadInput.

    outer: as for read(), with the file that has the lines
    """
    options: list[str] = []
    entries: list[str] = []
    for line in lines:
        nested = _FILE.fullmatch(line)
        if nested and "://" not in nested[1]:
            inner = read(folder / nested[1].strip(), outer)
            options += inner.options
            entries += inner.entries
        elif line.startswith("-") and not line.startswith(("-e", "--editable")):
            options.append(relocate_paths(line, lambda path: str((folder / path).resolve())))
        else:
            entries.append(line)
    return Requirements(tuple(dict.fromkeys(options)), tuple(dict.fromkeys(entries)))


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file without comments. A line that ends in a backslash is joined with
    the next line.
    """
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError:
        raise _unreadable(path, message("the file is not UTF-8")) from None
    for line in text.replace("\\\n", " ").splitlines():
        bare = " ".join(_COMMENT.sub("", line).split())
        if bare:
            yield bare
