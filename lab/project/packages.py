"""Read a project's dependencies with uv from its manifest or lock file, or from requirements.txt.

commands/project.py and package_audit.py beside this file call read_dependencies() before a run.
Nothing is installed here: the entries become a requirements file (lab/environments). uv's output is
parsed by its lines, and the paths in it become absolute, because the requirements file lies
elsewhere.

Source: packaging.python.org - pyproject.toml, pylock.toml; docs.astral.sh/uv - uv export, uv pip
    compile;
python-poetry.org/docs - dependency specification.
"""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from core.messages import BadInput, Json, Message, message, verbatim
from core.runtime import OLDEST_MINOR, RuntimeName
from lab.environments.requirements import locked_entry, name_of, normalised, read
from lab.python import uv

MANIFEST, UV_LOCK, PYLOCK, REQUIREMENTS = (
    "pyproject.toml",
    "uv.lock",
    "pylock.toml",
    "requirements.txt",
)
SETUP, SETUP_CFG = "setup.py", "setup.cfg"
OTHER_LOCKS = ("poetry.lock", "pdm.lock")  # which uv cannot read
READ_TIMEOUT_S = 300.0  # of one command of uv
OLDEST_PYTHON = f"3.{OLDEST_MINOR}"
PYPI = "https://pypi.org/simple"  # packages of other indexes need an option, see _link()
# arguments of uv that turn a uv.lock into a pylock.toml, without network
_EXPORT = (
    "export",
    "--frozen",
    "--offline",
    "--format=pylock.toml",
    "--no-emit-project",
    "--no-default-groups",
)
# arguments of uv that choose versions for a manifest without a lock file
_COMPILE = (
    "pip",
    "compile",
    "--universal",
    "--no-header",
    "--no-annotate",
    "--emit-index-annotation",
)
# the extra or the dependency group for which a package in a pylock.toml is
_CHOSEN = re.compile(r"""["']([^"']+)["'] in (?:extras|dependency_groups)""")
# uv's line, after an entry, about the index that has its package
_INDEX = re.compile(r"\s+# from (\S+)")
# in a setup.py or setup.cfg
_PYTHON_REQUIRES = re.compile(r"python_requires\s*=\s*[\"']?([^\"'\n#]+)")
# Poetry's ~1.2, but not the standard's ~=1.2
_TILDE = re.compile(r"~(?!=)\s*((\d+\.\d+)[\d.]*)")


class Dependencies(NamedTuple):
    """The dependencies of a project.

    entries: lines of a requirements file; file: the main file that they come from; source: all
        these files
    installs: whether one of the entries is the project itself
    """

    entries: tuple[str, ...]
    file: str
    source: Message
    installs: bool = False


class PythonBound(NamedTuple):
    """The Python versions that a project accepts, and the file that says so. Without a *text*,
    every version fits.
    """

    file: Path = Path()
    text: str = ""

    def accepts(self, name: RuntimeName) -> bool:
        """Return whether the project accepts the runtime, or else its last patch release. Raises
        BadInput.
        """
        version = f"{name.version}.{name.patch or 999}"
        try:
            accepted = [SpecifierSet(_in_standard_form(part)) for part in self.text.split("||")]
        except InvalidSpecifier as error:
            raise _unreadable(self.file, verbatim(str(error))) from None
        return name.native or any(one.contains(version, prereleases=True) for one in accepted)


def python_bound(folder: Path) -> PythonBound:
    """Return the Python versions that the project in *folder* accepts. Raises BadInput if a file
    cannot be read.
    """
    manifest = _toml(folder / MANIFEST)
    # in the order of their precedence
    bounds = {
        MANIFEST: manifest.get("project", {}).get("requires-python")
        or manifest.get("tool", {}).get("poetry", {}).get("dependencies", {}).get("python"),
        PYLOCK: _toml(folder / PYLOCK).get("requires-python"),
    }
    for file in (SETUP_CFG, SETUP):
        if found := _PYTHON_REQUIRES.search(_text(folder / file)):
            bounds[file] = found[1].strip()
    for file, text in bounds.items():
        if text and isinstance(text, str):
            return PythonBound(folder / file, text)
    return PythonBound()


def read_dependencies(
    folder: Path,
    extras: Sequence[str] = (),
    groups: Sequence[str] = (),
    python: str = OLDEST_PYTHON,
    note: Callable[..., None] | None = None,
) -> Dependencies | None:
    """Return the dependencies of the project in *folder*, including *extras* and dependency
    *groups*; None if unknown.

    A project with a [build-system] in its pyproject.toml, or with a setup.py, is installed like its
    dependencies. The modules of any other project are imported from its folder. Without a lock
    file, uv chooses versions that fit *python*, such as 3.11, and later versions of Python.
    note: prints every few seconds what uv does
    Raises BadInput if a file cannot be read, or if an extra or group does not exist.
    """
    file, installs = _manifest(folder)
    chosen = [f"--extra={name}" for name in extras] + [f"--group={name}" for name in groups]
    lock = next((name for name in (UV_LOCK, PYLOCK) if (folder / name).is_file()), "")
    if lock:
        path, source = folder / lock, verbatim(lock)
        if file:
            source = message("{file}, with the versions from {lock}", file=file, lock=lock)
        exported = lock == UV_LOCK
        text = _read_by_uv(path, [*_EXPORT, *chosen], note) if exported else _text(path)
        entries = [*_pinned(_parsed(text, path), path, [*extras, *groups])]
    elif file:
        command = [*_COMPILE, "--python-version", python, "--python", sys.executable, *chosen, file]
        entries = [*_compiled(_read_by_uv(folder / file, command, note), folder)]
        source = _named(folder, file)
    else:
        return _without_manifest(folder, (*extras, *groups))
    if installs:
        entries.append(f"{folder}[{','.join(extras)}]" if extras else str(folder))
    return Dependencies(tuple(entries), lock or file, source, installs)


def _manifest(folder: Path) -> tuple[str, bool]:
    """Return the file that names the project's dependencies, or "", and whether the project itself
    is installed. Raises BadInput.
    """
    manifest = _toml(folder / MANIFEST)
    tools = manifest.get("tool", {})
    if {"project", "build-system"} & {*manifest}:
        return MANIFEST, bool(tools.get("uv", {}).get("package", "build-system" in manifest))
    if "poetry" in tools:
        raise _unreadable(
            folder / MANIFEST,
            message("uv reads [tool.poetry] only if the file also has a [build-system] table"),
        )
    is_setup = (folder / SETUP).is_file() and not (folder / REQUIREMENTS).is_file()
    return (SETUP, True) if is_setup else ("", False)


def _named(folder: Path, file: str) -> Message:
    """Name the manifest *file*, and a lock file beside it whose versions are not used."""
    for lock in OTHER_LOCKS:
        if (folder / lock).is_file():
            return message(
                "{file}, but without the versions of {lock}, which uv cannot read (to use these "
                "versions, export them to a requirements file, and name this file with "
                "--requirements)",
                file=file,
                lock=lock,
            )
    return verbatim(file)


def _without_manifest(folder: Path, unknown: Sequence[str]) -> Dependencies | None:
    if unknown:
        raise BadInput(
            "{folder} has no pyproject.toml with a [project] table, so it has no extra or "
            "dependency group {names}.",
            folder=folder,
            names=unknown,
        )
    if not (folder / REQUIREMENTS).is_file():
        if "install_requires" in _text(folder / SETUP_CFG):
            reason = message(
                "uv reads this file only if the same folder has a pyproject.toml or setup.py"
            )
            raise _unreadable(folder / SETUP_CFG, reason)
        return None
    wanted = read(folder / REQUIREMENTS)
    if not wanted.hashed:
        entry = f"-r {folder / REQUIREMENTS}"
        return Dependencies((entry,), REQUIREMENTS, verbatim(REQUIREMENTS))
    pins = (entry.partition(" --hash")[0] for entry in wanted.entries)
    options = (option for option in wanted.options if option != "--require-hashes")
    source = message(
        "{file}, without package hashes because a server package may be added", file=REQUIREMENTS
    )
    return Dependencies((*options, *pins), REQUIREMENTS, source)


def _read_by_uv(path: Path, command: Sequence[str], note: Callable[..., None] | None) -> str:
    """Return the output of a command of uv that reads the file *path* of a project. Raises
    BadInput.
    """
    doing = message("Reading {file}", file=path.name)
    watch = note and uv.watcher(note, doing, READ_TIMEOUT_S)
    ask = partial(uv.run, timeout_s=READ_TIMEOUT_S, cwd=path.parent, watch=watch)
    text, failure = ask(command)
    if failure.code == uv.NETWORK:
        text, still_failed = ask([*command, "--offline"])  # uv may have the versions in its cache
        failure = still_failed and failure
    if failure:
        raise BadInput(
            "The packages of {path} cannot be determined: {reason}. {remedy}",
            path=path,
            reason=failure,
            remedy=_remedy(failure),
        )
    return text


def _compiled(text: str, folder: Path) -> Iterator[str]:
    """Yield absolute requirement lines from the output of uv pip compile, and where packages are
    that PyPI has not.
    """
    entry = ""
    for line in text.splitlines():
        if index := _INDEX.match(line):
            yield from _link(index[1], name_of(entry))
        elif line.strip():
            entry, semicolon, marker = line.partition(" ; ")
            path = entry.removeprefix("-e ")
            if "==" not in entry and " @ " not in entry:
                entry = path if "://" in path else (folder / path).resolve().as_uri()
            yield f"{entry}{semicolon}{marker}"


def _link(index: str, name: str) -> Iterator[str]:
    """Yield the option that lets uv find a package which a project takes from another index than
    PyPI.
    """
    if index.rstrip("/") != PYPI:
        is_list = index.startswith("file:") or index.endswith(".html")
        yield f"--find-links {index}" if is_list else f"--find-links {index.rstrip('/')}/{name}/"


def _pinned(lock: Json, path: Path, chosen: Sequence[str]) -> Iterator[str]:
    """Yield a requirements line for each package in a pylock.toml, with its version or location and
    its marker.

    path: the lock file; chosen: extras and groups. Raises BadInput if no package is for one of
        these.
    """
    packages = [package for package in lock.get("packages", ()) if isinstance(package, dict)]
    known = {*_CHOSEN.findall(" ".join(str(package.get("marker")) for package in packages))}
    # uv has already checked the names if it exported a uv.lock
    for name in chosen if path.name == PYLOCK else ():
        if normalised(name) not in map(normalised, known):
            reason = message(
                "it has no packages for an extra or a dependency group named {name}, but only "
                "for: {known}",
                name=name,
                known=known,
            )
            raise _unreadable(path, reason)
    names = {*map(normalised, chosen)}
    # outside a lock file, markers know no extras and groups: what was chosen becomes always true,
    # and what was not becomes always false
    for package in packages:
        marker = _CHOSEN.sub(
            lambda match: f"python_version {'>' if normalised(match[1]) in names else '<'} '3'",
            str(package.get("marker", "")),
        )
        entry = locked_entry(package, path.parent)
        # read_dependencies() adds the project itself
        if entry and not entry.endswith(f" @ {path.parent.resolve().as_uri()}"):
            yield from _link(str(package.get("index", PYPI)), name_of(entry))
            yield f"{entry}{f' ; {marker}' if marker else ''}"


def _in_standard_form(bound: str) -> str:
    """Return a bound on versions in the form of the packaging standards, from that form or from
    Poetry's form.
    """
    # of Python, ^3.x accepts all versions below 4
    text = re.sub(r"\^\s*(\d[\d.]*)", r">=\1,<4", bound.strip().rstrip(","))
    text = _TILDE.sub(r">=\1,==\2.*", text)
    text = re.sub(r"^(\d+)(\.\d+)?(\.\*)?$", r"==\1\2.*", text)
    return "" if text == "*" else re.sub(r"(?<=[\d*])\s+(?=[<>=!~])", ",", text)


def _toml(path: Path) -> Json:
    """Return the parsed content of a TOML file; {} if the file does not exist. Raises BadInput."""
    content = _parsed(_text(path), path)
    for key in ("project", "tool"):
        if not isinstance(content.get(key, {}), dict):
            raise _unreadable(path, message("{key} is not a table", key=key))
    return content


def _parsed(text: str, path: Path) -> Json:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise _unreadable(path, verbatim(str(error))) from None


def _text(path: Path) -> str:
    """Return the text of a file; "" if the file does not exist. Raises BadInput."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise _unreadable(path, verbatim(str(error))) from None


def _unreadable(path: Path, reason: Message) -> BadInput:
    return BadInput(
        "{path} cannot be read: {reason}. {remedy}",
        path=path,
        reason=reason,
        remedy=_remedy(reason),
    )


def _remedy(reason: Message) -> Message:
    return uv.remedy(
        reason, message("Correct the file, or name a requirements file with --requirements.")
    )
