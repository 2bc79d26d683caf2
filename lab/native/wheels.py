"""Build wheels of the extension modules in native/ for each interpreter, and report why a wheel is
missing.

Only commands/native.py builds, with make(). Runs ask wheel() for the extensions of a system, and
lab/run installs them into its environment (lab/environments). A wheel of other sources or another
interpreter has another folder, so no wheel is replaced while a run uses it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from core.messages import NOTHING, BadInput, Message, message
from core.program import PROGRAM
from core.system import Extension
from lab.digests import file_digests, files_in, short_digest
from lab.environments.environment import EnvironmentFailed
from lab.folders import locked
from lab.native.programs import (
    copy_sources,
    find_missing_tools,
    load_reason,
    run_build,
    store_reason,
)
from lab.places import NATIVE_BUILDS, NATIVE_SOURCES
from lab.python import uv
from lab.python.interpreters import Interpreter
from systems import built_in

WHEELS = NATIVE_BUILDS / "wheels"
REASON_FILE = "not-built"  # in the folder of a wheel: why its last build failed
# how the paths of source files end; if one changes, a new wheel is needed
SOURCE_KINDS = (".cpp", ".hpp", ".rs", ".py", ".toml", "CMakeLists.txt")


EXTENSIONS = {extension.name: extension for system in built_in() for extension in system.extensions}


@dataclass(frozen=True)
class WheelBuild:
    """The build of an extension's wheel for an interpreter."""

    extension: Extension
    interpreter: Interpreter

    @property
    def label(self) -> Message:
        """The extension and the runtime, for messages: 'NAME for 3.14t'."""
        return message(
            "{extension} for {runtime}",
            extension=self.extension.name,
            runtime=self.interpreter.name,
        )

    @cached_property
    def place(self) -> Path:
        """The wheel's folder, named by a digest of its sources and of the interpreter's path,
        version and build.
        """
        own = files_in(NATIVE_SOURCES / self.extension.name, SOURCE_KINDS)
        borrowed = (str(NATIVE_SOURCES / name) for name in self.extension.borrowed)
        sources = file_digests(chain(own, borrowed), str(NATIVE_SOURCES))
        digest = short_digest((sorted(sources.items()), sorted(self.interpreter.identity.items())))
        return WHEELS / f"{self.extension.name}-{self.interpreter.name}-{digest}"

    def find(self) -> Path | None:
        """Return the path of the wheel; None if there is none of the present sources."""
        return next(self.place.glob("*.whl"), None)

    def missing_tools(self) -> Message:
        """Return a message that names missing build tools; NOTHING if all are on PATH."""
        has_uv = uv.find() is not None
        return find_missing_tools(self.extension.tools) or (
            NOTHING if has_uv else message("not built: needs uv (pip install uv)")
        )

    def why_missing(self) -> Message:
        """Return why there is no wheel."""
        try:
            return self.missing_tools() or load_reason(self.place / REASON_FILE)
        except OSError:
            return message("not built; build it with: {program} native", program=PROGRAM)

    def make(self) -> Message:
        """Build the wheel unless an up-to-date wheel exists. Return why the build failed, or
        NOTHING.
        """
        if self.find():
            return NOTHING
        absent = self.missing_tools()
        if absent:
            return absent
        with locked(self.place) as lock:
            # Another run may have built the wheel while this one waited for the lock.
            return NOTHING if self.find() else self._build(lock)

    def _build(self, lock: int) -> Message:
        """Build the wheel in another folder, so that each wheel in its own folder is complete. Keep
        the reason of a failure for why_missing(). *lock* is that of the folder.
        """
        copy_sources()
        name, made = self.extension.name, self.place / "made"
        asked = ("--python", self.interpreter.executable, "--out-dir", made, NATIVE_BUILDS / name)
        command = [str(uv.find()), "build", "--wheel", *map(str, asked)]
        if reason := run_build(name, [command], lock):
            store_reason(self.place / REASON_FILE, reason)
            return reason
        for built in made.glob("*.whl"):
            built.rename(self.place / built.name)
        return NOTHING


def wheel(name: str, interpreter: Interpreter) -> Path:
    """Return the path of the wheel of extension *name* for an interpreter, built from the present
    sources.

    Starts no process. Raises EnvironmentFailed with the reason, and BadInput if *name* is not an
    extension.
    """
    if name not in EXTENSIONS:
        raise BadInput(
            "{name} is not an extension. Choose from {known}.", name=repr(name), known=EXTENSIONS
        )
    build = WheelBuild(EXTENSIONS[name], interpreter)
    path = build.find()
    if path is None:
        raise EnvironmentFailed(
            "The extension {extension} is not available: {reason}",
            extension=build.label,
            reason=build.why_missing(),
        )
    return path


def make(
    names: Iterable[str], interpreters: Iterable[Interpreter]
) -> Iterator[tuple[Message, Message]]:
    """Build wheels of the extensions *names* for each interpreter.

    names: keys of EXTENSIONS

    Yields 'NAME for 3.14t' and why the wheel could not be built, or NOTHING if it is ready. A wheel
    of the present sources is not rebuilt.
    """
    extensions = [EXTENSIONS[name] for name in names]
    for interpreter in interpreters:
        for extension in extensions:
            build = WheelBuild(extension, interpreter)
            yield build.label, build.make()
