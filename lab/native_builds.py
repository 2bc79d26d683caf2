"""Build gilscope's native programs and extension modules, start the programs, find the wheels of
the extensions, and report why one is missing.

Only commands/native.py builds, with make(). Runs ask command(), missing() and wheel(), lab/run
installs the wheels into environments, and lab/hosts copies the programs FOR_HOSTS. The systems
declare programs and extensions (core/system.py), so a new one needs no change here unless it has
another kind of build tool. A wheel of other sources or another interpreter has another folder, so
no wheel is replaced while a run uses it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from core.messages import AND, NOTHING, BadInput, Message, listed, message
from core.program import INSTALLED, PROGRAM
from core.system import Extension, Program
from lab.digests import MADE_FOLDERS, file_digests, files_in, short_digest
from lab.environments.environment import EnvironmentFailed
from lab.folders import locked
from lab.places import NATIVE_BUILDS, NATIVE_SOURCES, SHIPPED_PROGRAMS
from lab.processes import run, scrubbed_environment
from lab.python import uv
from lab.python.interpreters import Interpreter
from lab.python.trust import may_use
from systems import built_in

# where programs lie, with the reasons of failed builds; locked during a build
BIN = NATIVE_BUILDS / "bin"
WHEELS = NATIVE_BUILDS / "wheels"
REASON_FILE = "not-built"  # in the folder of a wheel: why its last build failed
BUILD_TIMEOUT_S = 1800.0  # of one command of a build
# how the names of source files end, whose digests tell whether a program or extension has changed
SOURCE_KINDS = (".rs", ".toml", ".c", ".h", ".cpp", ".hpp", ".txt", ".java", ".xml", ".py")
BROKEN = "broken"  # message code: a build failed although its tools are installed
MOST_LINES = 3  # of a failed build's output
COMPILE_ERROR = "could not compile"  # in the output of cargo
# a line of a CMakeLists.txt in native/ about a program whose library is missing
_LIBRARY = re.compile(r"(?P<name>[a-z-]+): not built: needs (?P<needs>.+)")


class Build(NamedTuple):
    """A description of how one native program is built.

    tools: programs that must be on PATH
    commands: run in *folder* one after the other
    built_file: the file that the commands create; it is copied to native/bin if it is elsewhere
    """

    name: str
    tools: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    built_file: Path
    folder: Path = NATIVE_BUILDS

    @property
    def installed_file(self) -> Path:
        """The path at which the program is installed after its build."""
        return BIN / self.built_file.name

    @property
    def program(self) -> Path:
        """The path of the program built on this machine, or else of the program in the gilscope
        package.
        """
        built = self.installed_file
        return built if built.exists() else SHIPPED_PROGRAMS / built.name

    @property
    def reason_file(self) -> Path:
        """The path of the file that says why the last build failed."""
        return BIN / f"{self.name}.not-built"


def _build_of(program: Program) -> Build:
    """Return the description of how *program* is built."""
    name, home = program.name, NATIVE_BUILDS / program.folder
    if program.builder == "cargo":
        # A CARGO_TARGET_DIR in the environment would put the program elsewhere.
        cargo = ("cargo", "build", "--quiet", "--release", "--target-dir", "target", "--bin", name)
        return Build(name, ("cargo",), (cargo,), home / "target" / "release" / name)
    if program.builder == "cmake":
        configure = ("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release")
        build = ("cmake", "--build", "build", "--target", name)
        return Build(name, ("cmake", "c++"), (configure, build), BIN / name)
    tools = ("java", "javac", "mvn")  # a runtime environment alone has no javac
    package = ("mvn", "-q", "-B", "package")
    return Build(name, tools, (package,), home / "target" / f"{name}.jar", home)


# each native program of a system, with the system; PROGRAMS and BUILDS have them by name
_USES = [
    (system, program)
    for system in built_in()
    for program in (system.native_service, system.native_client)
    if program
]
PROGRAMS = {program.name: program for _, program in _USES}
BUILDS = {name: _build_of(program) for name, program in PROGRAMS.items() if program.builder}
# Programs that check who connects, so they may run on other hosts.
FOR_HOSTS = {program.name for system, program in _USES if system.supports_hosts and program.builder}
EXTENSIONS = {extension.name: extension for system in built_in() for extension in system.extensions}


def command(program: Program) -> list[str]:
    """Return the command line that starts a native program. Raises EnvironmentFailed with the
    reason.

    If a program has a *host*, this Python module starts it and follows the child contract for it.
    """
    if reason := missing(program.name):
        raise EnvironmentFailed(reason)
    host = [sys.executable, "-s", "-m", program.host] if program.host else []
    build = BUILDS.get(program.name)
    file = [str(build.program)] if build else []
    java = ["java", "-jar"] if build and build.installed_file.suffix == ".jar" else []
    return [*host, *java, *file, *program.arguments]


def missing(name: str) -> Message:
    """Return why a native program is missing, such as "not built: needs cargo"; NOTHING if it is
    ready.

    A program also counts as missing if the last build failed, because its sources have changed
    since it was built.
    """
    build = BUILDS.get(name)
    if build is None:
        if shutil.which(name):
            return NOTHING
        return message(
            "not installed: {program} is not on PATH (to install it, run: make native-peers)",
            program=name,
        )
    if build.program.exists() and not build.reason_file.exists():
        return may_use(build.program)
    return _missing_tools(build.tools) or _why_not_built(build.reason_file)


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
    folder = _wheel_folder(EXTENSIONS[name], interpreter)
    for path in folder.glob("*.whl"):
        return path
    raise EnvironmentFailed(
        "The extension {extension} is not available: {reason}",
        extension=_wheel_label(name, interpreter),
        reason=_missing_wheel_tools(EXTENSIONS[name]) or _why_not_built(folder / REASON_FILE),
    )


def make(
    names: Collection[str], interpreters: Iterable[Interpreter]
) -> Iterator[tuple[str | Message, Message]]:
    """Build programs, and wheels for each interpreter. Yield what was built, such as 'loadgen' or
    'NAME for 3.14t', and why the build failed or NOTHING. BIN is locked until all programs are
    built.

    names: keys of BUILDS and EXTENSIONS. Of programs, the build tools themselves find out whether a
        source has changed. A wheel of the present sources is not built again.
    """
    with locked(BIN) as lock:
        if INSTALLED:  # the sources may be read-only, so a copy of them is built
            built = shutil.ignore_patterns("bin")
            shutil.copytree(NATIVE_SOURCES, NATIVE_BUILDS, ignore=built, dirs_exist_ok=True)
        for name in names:
            if name in BUILDS:
                yield name, _make_program(BUILDS[name], lock)
    for interpreter in interpreters:
        for name in names:
            if name in EXTENSIONS:
                yield _wheel_label(name, interpreter), _make_wheel(EXTENSIONS[name], interpreter)


def _missing_tools(tools: Iterable[str]) -> Message:
    """Return a message with the names of build tools that are not on PATH; NOTHING if all are on
    PATH.
    """
    absent = listed([tool for tool in tools if shutil.which(tool) is None], last=AND)
    return message("not built: needs {tools}", tools=absent) if absent else NOTHING


def _missing_wheel_tools(extension: Extension) -> Message:
    no_uv = NOTHING if uv.find() else message("not built: needs uv (pip install uv)")
    return _missing_tools(extension.tools) or no_uv


def _why_not_built(reason_file: Path) -> Message:
    """Return why the last build failed, or that there was none."""
    if reason_file.exists():
        return Message.from_json(json.loads(reason_file.read_text("utf-8")))
    return message("not built; build it with: {program} native", program=PROGRAM)


def _make_program(build: Build, lock: int) -> Message:
    if absent := _missing_tools(build.tools):
        return absent
    reason = run_build(build.name, build.commands, lock, build.reason_file, build.folder)
    place = build.installed_file
    if not reason and build.built_file != place:
        # copied beside the old file and renamed, because the old program may be running
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            shutil.copy2(build.built_file, beside)
            os.replace(beside, place)
        finally:  # remove an incomplete copy, for example after "disk full" or Ctrl-C
            beside.unlink(missing_ok=True)
    return reason


def _wheel_label(name: str, interpreter: Interpreter) -> Message:
    return message("{extension} for {runtime}", extension=name, runtime=interpreter.name)


def _wheel_folder(extension: Extension, interpreter: Interpreter) -> Path:
    """Return the wheel's folder, named by a digest of its sources and of the interpreter's path,
    version and build.
    """
    own = files_in(NATIVE_SOURCES / extension.name, SOURCE_KINDS)
    borrowed = (str(NATIVE_SOURCES / name) for name in extension.borrowed)
    sources = file_digests(chain(own, borrowed), str(NATIVE_SOURCES))
    digest = short_digest((sorted(sources.items()), sorted(interpreter.identity.items())))
    return WHEELS / f"{extension.name}-{interpreter.name}-{digest}"


def _make_wheel(extension: Extension, interpreter: Interpreter) -> Message:
    """Build a wheel in another folder, so that each wheel in its own folder is complete. Return why
    the build failed, or NOTHING.
    """
    folder = _wheel_folder(extension, interpreter)
    made = folder / "made"
    asked = ("--python", interpreter.executable, "--out-dir", made, NATIVE_BUILDS / extension.name)
    command = [str(uv.find()), "build", "--wheel", *map(str, asked)]
    with locked(folder) as lock:
        if any(folder.glob("*.whl")):
            return NOTHING
        if absent := _missing_wheel_tools(extension):
            return absent
        reason = run_build(extension.name, [command], lock, folder / REASON_FILE)
        for built in made.glob("*.whl"):
            built.rename(folder / built.name)
        return reason


def sources() -> Iterator[str]:
    """Yield the source files of native programs."""
    return files_in(NATIVE_SOURCES, SOURCE_KINDS, {*MADE_FOLDERS, "bin"})


def run_build(
    name: str,
    commands: Iterable[Sequence[str]],
    lock: int,
    reason_file: Path,
    folder: Path | None = None,
) -> Message:
    """Run the commands that build the program or wheel *name* in *folder*. Return why they failed,
    or NOTHING, and keep the reason in its file.

    The commands inherit *lock* (lab.folders). If this process is killed, the next builder waits
    until the command ends.
    """
    output, environment = "", scrubbed_environment() | {"NO_COLOR": "1"}
    for command in commands:
        line, reason = " ".join(command), NOTHING
        try:
            done = run(command, BUILD_TIMEOUT_S, environment, cwd=folder, pass_fds=(lock,))
            output += done.stdout + done.stderr
            if done.returncode:
                reason = _explain_failure(name, line, output)
        except subprocess.TimeoutExpired as late:
            reason = message(
                "not built: {command} did not end within {limit_s:g} s",
                command=line,
                limit_s=late.timeout,
            )
        except OSError as error:
            reason = _broken(
                message(
                    "{program} could not be started: {error}",
                    program=command[0],
                    error=error.strerror,
                )
            )
        if reason:
            reason_file.write_text(json.dumps(reason.to_json()), "utf-8")
            return reason
    reason_file.unlink(missing_ok=True)
    return NOTHING


def _broken(reason: Message) -> Message:
    """Return a message that a build failed for another *reason* than missing tools, such as a
    compile error.
    """
    return message(
        "not built, although all build tools are installed: {reason}", code=BROKEN, reason=reason
    )


def _explain_failure(name: str, command: str, output: str) -> Message:
    """Return why a build failed: a missing library that its output names, or else the first errors
    in the output, because stack frames of the build tools may follow them.
    """
    for match in _LIBRARY.finditer(output):
        if match["name"] == name:
            return message("not built: needs {tools}", tools=match["needs"].strip())
    lines = [line.strip() for line in output.strip().splitlines()]
    errors = [line for line in lines if "error" in line.lower()]
    text = " / ".join((errors or lines[-MOST_LINES:])[:MOST_LINES])
    failed = message("{command} failed: {output}", command=command, output=text)
    if command.startswith("cargo") and COMPILE_ERROR not in output:
        # the installed Rust is too old, or there is no network
        return message("not built: {reason}", reason=failed)
    return _broken(failed)
