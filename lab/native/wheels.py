"""Our own extensions in native/: a wheel of each for each interpreter, or why there is none."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput
from lab.environments import build
from lab.environments.environment import EnvironmentFailed
from lab.native.programs import BROKEN
from lab.places import NATIVE_SOURCES
from lab.python import interpreters
from lab.python.interpreters import Interpreter

WHEELS = NATIVE_SOURCES / "wheels"
BUILD_TIMEOUT_S = 1800.0
STAMP_FILE = "gilscope.json"
REASON_FILE = "not-built"
SOURCE_KINDS = (".cpp", ".hpp", ".rs", ".py", ".toml", "CMakeLists.txt")
MADE_FOLDERS = {"target", "build", "__pycache__"}
_NEEDS = re.compile(r"not built: needs [^\n]+")


class WheelMissing(EnvironmentFailed):
    """An extension is not there for an interpreter; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """Its folder in native/ has its name. tools: what must be on PATH. borrowed: headers that it includes."""

    name: str
    tools: tuple[str, ...]
    borrowed: tuple[str, ...] = ()


EXTENSIONS: dict[str, Extension] = {
    one.name: one
    for one in (
        Extension(name="beastclient", tools=("c++",), borrowed=("http-beast/client.hpp", "http-beast/socket.hpp")),
        Extension(name="reqwestclient", tools=("cargo",)),
    )
}


def wheel(name: str, interpreter: Interpreter) -> Path:
    """The wheel of extension *name*, made of the sources as they are now. Starts no process.

    Raises WheelMissing with the reason, BadInput for a name that is none.
    """
    extension = _extension(name)
    place = _place(extension, interpreter)
    found = _current(place, _stamp(extension, interpreter))
    if found is None:
        reason = _why_not(extension, place)
        raise WheelMissing(f"The extension {name} for runtime {interpreter.name} was {reason}")
    return found


def make(names: Iterable[str], found: Iterable[Interpreter]) -> Iterator[tuple[str, str]]:
    """Build these extensions, or all, for each interpreter: 'name for 3.14t', and why not, empty where it is there.

    A wheel that is made of the sources as they are now is left as it is. Raises BadInput for a name that is none.
    """
    extensions = [_extension(name) for name in list(names) or EXTENSIONS]
    for interpreter in found:
        for extension in extensions:
            yield f"{extension.name} for {interpreter.name}", _made(extension, interpreter)


def _extension(name: str) -> Extension:
    if name not in EXTENSIONS:
        raise BadInput(f"{name!r} is not an extension; accepted are {', '.join(EXTENSIONS)}.")
    return EXTENSIONS[name]


def _place(extension: Extension, interpreter: Interpreter) -> Path:
    """Its folder: two interpreters of one name do not share a wheel."""
    digest = hashlib.sha256(str(interpreter.executable).encode()).hexdigest()[:8]
    return WHEELS / f"{extension.name}-{interpreter.name}-{digest}"


def _stamp(extension: Extension, interpreter: Interpreter) -> str:
    """All that a wheel is made of: other sources, or another build of the interpreter, need another one."""
    facts = {
        "sources": _digest(extension),
        "executable": str(interpreter.executable),
        "version": interpreter.facts["version"],
        "build": interpreter.facts["build"],
    }
    return json.dumps(facts, indent=1)


def _digest(extension: Extension) -> str:
    """Names and contents of all sources."""
    sha = hashlib.sha256()
    for path in _sources(extension):
        data = path.read_bytes()
        sha.update(f"{path.relative_to(NATIVE_SOURCES).as_posix()}\0{len(data)}\0".encode() + data)
    return sha.hexdigest()


def _sources(extension: Extension) -> Iterator[Path]:
    for here, below, files in os.walk(NATIVE_SOURCES / extension.name):
        below[:] = sorted(set(below) - MADE_FOLDERS)
        yield from (Path(here, name) for name in sorted(files) if name.endswith(SOURCE_KINDS))
    yield from (NATIVE_SOURCES / name for name in extension.borrowed)


def _current(place: Path, stamp: str) -> Path | None:
    try:
        if (place / STAMP_FILE).read_text(encoding="utf-8") == stamp:
            return next(place.glob("*.whl"), None)
    except OSError:
        pass
    return None


def _why_not(extension: Extension, place: Path) -> str:
    lacking = _lacking(extension)
    if lacking:
        return lacking
    try:
        return (place / REASON_FILE).read_text(encoding="utf-8")
    except OSError:
        return "not built: try make native"


def _lacking(extension: Extension) -> str:
    tools = [tool for tool in extension.tools if shutil.which(tool) is None]
    if tools:
        return f"not built: needs {' and '.join(tools)}"
    return "" if interpreters.uv() else "not built: needs uv (try: make setup)"


def _made(extension: Extension, interpreter: Interpreter) -> str:
    """Build its wheel unless it is there, or another run has made it while this one waited; why not, or empty."""
    place, stamp = _place(extension, interpreter), _stamp(extension, interpreter)
    if _current(place, stamp):
        return ""
    lacking = _lacking(extension)
    if lacking:
        return lacking
    place.parent.mkdir(parents=True, exist_ok=True)
    with build.locked(place.with_name(place.name + ".lock")) as lock:
        return "" if _current(place, stamp) else _build(extension, interpreter, place, stamp, lock)


def _build(extension: Extension, interpreter: Interpreter, place: Path, stamp: str, lock: int) -> str:
    """The stamp is written last: what has one is whole."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    reason = _failure(_command(extension, interpreter, place), lock)
    file, text = (REASON_FILE, reason) if reason else (STAMP_FILE, stamp)
    (place / file).write_text(text, encoding="utf-8")
    return reason


def _command(extension: Extension, interpreter: Interpreter, place: Path) -> list[str]:
    source = str(NATIVE_SOURCES / extension.name)
    python = ["--python", str(interpreter.executable)]
    return [str(interpreters.uv()), "build", "--wheel", *python, "--out-dir", str(place), source]


def _failure(command: list[str], lock: int) -> str:
    """Why a build failed, in a few words; empty if it did not."""
    try:
        done = build.run(command, lock, BUILD_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"{BROKEN}: no end after {BUILD_TIMEOUT_S:g} s"
    if not done.returncode:
        return ""
    return _reason(done.stdout + done.stderr)


def _reason(said: str) -> str:
    """The library that is missing, or the first lines that name an error: what follows are the tools' own frames."""
    needs = _NEEDS.search(said)
    if needs:
        return needs[0].strip()
    lines = [line.strip() for line in said.strip().splitlines()]
    errors = [line for line in lines if "error" in line.lower()]
    return f"{BROKEN}: " + " / ".join(errors[:3] or lines[-3:])
