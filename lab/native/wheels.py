"""Build wheels of the extension modules in native/ for each interpreter, and report why a wheel is missing."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.errors import BadInput
from core.messages import NOTHING, Message, message, verbatim
from core.program import PROGRAM
from core.system import Extension
from lab.digests import files_in
from lab.environments.environment import EnvironmentFailed, run_build
from lab.folders import locked, remove_contents
from lab.native.programs import (
    build_failure,
    copy_sources,
    find_missing_library,
    find_missing_tools,
    load_reason,
    store_reason,
)
from lab.places import NATIVE_BUILDS, NATIVE_SOURCES
from lab.python import uv
from lab.python.interpreters import Interpreter
from systems import built_in

WHEELS = NATIVE_BUILDS / "wheels"
BUILD_TIMEOUT_S = 1800.0
STAMP_FILE = "gilscope.json"
REASON_FILE = "not-built"
SOURCE_KINDS = (".cpp", ".hpp", ".rs", ".py", ".toml", "CMakeLists.txt")
MADE_FOLDERS = {"target", "build", "__pycache__"}


class WheelMissing(EnvironmentFailed):
    """The error that no wheel of an extension module was built for an interpreter. Its message says why."""


EXTENSIONS = {extension.name: extension for system in built_in() for extension in system.extensions}


def wheel(name: str, interpreter: Interpreter) -> Path:
    """Return the path of the wheel of extension *name* for an interpreter, built from the present sources.

    Starts no process. Raises WheelMissing with the reason, and BadInput if *name* is not an extension.
    """
    if name not in EXTENSIONS:
        known = ", ".join(EXTENSIONS)
        raise BadInput("{name} is not an extension. Choose from {known}.", name=repr(name), known=known)
    extension = EXTENSIONS[name]
    place = _place(extension, interpreter)
    path = _current(place, _stamp(extension, interpreter))
    if path is None:
        label, reason = _label(extension, interpreter), _why_missing(extension, place)
        raise WheelMissing(
            message("The extension {extension} is not available: {reason}", extension=label, reason=reason)
        )
    return path


def make(names: Iterable[str], interpreters: Iterable[Interpreter]) -> Iterator[tuple[Message, Message]]:
    """Build wheels of the extensions *names* for each interpreter.

    names: keys of EXTENSIONS

    Yields 'NAME for 3.14t' and why the wheel could not be built, or NOTHING if it is ready. A wheel of the present
    sources is not rebuilt.
    """
    extensions = [EXTENSIONS[name] for name in names]
    for interpreter in interpreters:
        for extension in extensions:
            yield _label(extension, interpreter), _build_if_outdated(extension, interpreter)


def _label(extension: Extension, interpreter: Interpreter) -> Message:
    return message("{extension} for {runtime}", extension=extension.name, runtime=interpreter.name)


def _place(extension: Extension, interpreter: Interpreter) -> Path:
    """Return a wheel's folder. Its name has a hash of the interpreter's path, because interpreter names may repeat."""
    digest = hashlib.sha256(str(interpreter.executable).encode()).hexdigest()[:8]
    return WHEELS / f"{extension.name}-{interpreter.name}-{digest}"


def _stamp(extension: Extension, interpreter: Interpreter) -> str:
    """Return what identifies a wheel: a digest of its sources, and the interpreter's path, version and build."""
    return json.dumps({"sources": _digest(extension), **interpreter.identity}, indent=1)


def _digest(extension: Extension) -> str:
    """Return a digest of the names and contents of an extension's sources."""
    sha = hashlib.sha256()
    own = files_in(NATIVE_SOURCES / extension.name, SOURCE_KINDS, MADE_FOLDERS)
    for path in (*map(Path, own), *(NATIVE_SOURCES / name for name in extension.borrowed)):
        data = path.read_bytes()
        sha.update(f"{path.relative_to(NATIVE_SOURCES).as_posix()}\0{len(data)}\0".encode() + data)
    return sha.hexdigest()


def _current(place: Path, stamp: str) -> Path | None:
    try:
        is_current = (place / STAMP_FILE).read_text(encoding="utf-8") == stamp
    except OSError:
        return None
    return next(place.glob("*.whl"), None) if is_current else None


def _why_missing(extension: Extension, place: Path) -> Message:
    try:
        return _find_missing_tools(extension) or load_reason(place / REASON_FILE)
    except OSError:
        return message("not built; build it with: {program} native", program=PROGRAM)


def _find_missing_tools(extension: Extension) -> Message:
    has_uv = uv.find() is not None
    return find_missing_tools(extension.tools) or (
        NOTHING if has_uv else message("not built: needs uv (pip install uv)")
    )


def _build_if_outdated(extension: Extension, interpreter: Interpreter) -> Message:
    """Build a wheel unless an up-to-date wheel exists. Return why the build failed, or NOTHING.

    Another run may have built the wheel while this one waited for the lock.
    """
    place, stamp = _place(extension, interpreter), _stamp(extension, interpreter)
    if _current(place, stamp):
        return NOTHING
    absent = _find_missing_tools(extension)
    if absent:
        return absent
    with locked(place) as lock:
        return NOTHING if _current(place, stamp) else _build(extension, interpreter, place, stamp, lock)


def _build(extension: Extension, interpreter: Interpreter, place: Path, stamp: str, lock: int) -> Message:
    """Build a wheel. Return why the build failed, or NOTHING. The stamp is written last: it marks a complete wheel."""
    remove_contents(place)
    copy_sources()
    try:
        python, source = str(interpreter.executable), str(NATIVE_BUILDS / extension.name)
        command = [str(uv.find()), "build", "--wheel", "--python", python, "--out-dir", str(place), source]
        done = run_build(command, lock, BUILD_TIMEOUT_S)
    except subprocess.TimeoutExpired as late:
        reason = build_failure(message("the build did not end within {limit_s:g} s", limit_s=late.timeout))
    else:
        reason = _explain_failure(extension.name, done.stdout + done.stderr) if done.returncode else NOTHING
    if reason:
        store_reason(place / REASON_FILE, reason)
    else:
        (place / STAMP_FILE).write_text(stamp, encoding="utf-8")
    return reason


def _explain_failure(name: str, output: str) -> Message:
    """Return why a build failed: a missing library, or the first error lines of *output*.

    Later lines are mostly stack frames of the build tools.
    """
    lines = [line.strip() for line in output.strip().splitlines()]
    errors = [line for line in lines if "error" in line.lower()]
    return find_missing_library(name, output) or build_failure(verbatim(" / ".join(errors[:3] or lines[-3:])))
