"""Build native programs, return the commands that start them, and report why a program
is missing.

Only commands/native.py builds, with make(). Runs ask command() or missing(), and lab/hosts copies
the programs FOR_HOSTS. The programs themselves are declared by the systems (core/system.py), so a
new one needs no change here unless it has another kind of build tool.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.messages import AND, NOTHING, Message, listed, message
from core.program import INSTALLED, PROGRAM
from core.system import Program
from lab.digests import MADE_FOLDERS, files_in
from lab.environments.environment import EnvironmentFailed
from lab.folders import locked
from lab.places import NATIVE_BUILDS, NATIVE_SOURCES, SHIPPED_PROGRAMS
from lab.processes import run, scrubbed_environment
from lab.python.trust import may_use
from systems import built_in

# where programs lie, with the reasons of failed builds; locked during a build
BIN = NATIVE_BUILDS / "bin"
BUILD_TIMEOUT_S = 1800.0  # of one command of a build
# how the names of source files end, whose digests tell whether a program has changed
SOURCE_KINDS = (".rs", ".toml", ".c", ".h", ".cpp", ".hpp", ".txt", ".java", ".xml")
BROKEN = "broken"  # message code: the build of a program failed although its tools are installed
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
    return Build(
        name, tools, (("mvn", "-q", "-B", "package"),), home / "target" / f"{name}.jar", home
    )


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


def command(program: Program) -> list[str]:
    """Return the command line that starts a native program. Raises EnvironmentFailed with the
    reason.

    If a program has a *host*, this Python module starts it and follows the child contract for it.
    """
    reason = missing(program.name)
    if reason:
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
        needed = message(
            "not installed: {program} is not on PATH (to install it, run: make native-peers)",
            program=name,
        )
        return NOTHING if shutil.which(name) else needed
    reason = message("not built; build it with: {program} native", program=PROGRAM)
    if build.reason_file.exists():
        reason = load_reason(build.reason_file)
    elif build.program.exists():
        return may_use(build.program)
    return find_missing_tools(build.tools) or reason


def make(names: Iterable[str]) -> Iterator[tuple[str, Message]]:
    """Build programs. Yield the name of each program, and why its build failed or NOTHING. BIN
    stays locked until the generator ends.

    names: keys of BUILDS. The build tools themselves find out whether a source has changed.
    """
    with locked(BIN) as lock:
        copy_sources()
        for name in names:
            yield name, _build(BUILDS[name], lock)


def copy_sources() -> None:
    """Copy the native sources of an installed gilscope to a writable folder, to build
    them there.
    """
    if INSTALLED:
        built = shutil.ignore_patterns("bin")
        shutil.copytree(NATIVE_SOURCES, NATIVE_BUILDS, ignore=built, dirs_exist_ok=True)


def find_missing_tools(tools: Iterable[str]) -> Message:
    """Return a message with the names of build tools that are not on PATH; NOTHING if all are on
    PATH.
    """
    absent = listed([tool for tool in tools if shutil.which(tool) is None], last=AND)
    return message("not built: needs {tools}", tools=absent) if absent else NOTHING


def store_reason(path: Path, reason: Message) -> None:
    """Write to the file *path* why a build failed."""
    path.write_text(json.dumps(reason.to_json()), "utf-8")


def load_reason(path: Path) -> Message:
    """Return why a build failed, read from the file *path* that store_reason() wrote."""
    return Message.from_json(json.loads(path.read_text("utf-8")))


def _build(build: Build, lock: int) -> Message:
    if absent := find_missing_tools(build.tools):
        return absent
    reason = run_build(build.name, build.commands, lock, build.folder)
    if reason:
        store_reason(build.reason_file, reason)
    else:
        build.reason_file.unlink(missing_ok=True)
        if build.built_file != build.installed_file:
            _install_file(build.built_file, build.installed_file)
    return reason


def _install_file(made: Path, place: Path) -> None:
    """Install a program: copy it beside the old file and rename it, because the old program may be
    running.
    """
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        shutil.copy2(made, beside)
        os.replace(beside, place)
    finally:  # remove an incomplete copy, for example after "disk full" or Ctrl-C
        beside.unlink(missing_ok=True)


def sources_in(folder: Path) -> Iterator[str]:
    """Yield the source files of native programs in *folder*."""
    return files_in(folder, SOURCE_KINDS, {*MADE_FOLDERS, "bin"})


def run_build(
    name: str,
    commands: Iterable[Sequence[str]],
    lock: int,
    folder: Path | None = None,
    timeout_s: float = BUILD_TIMEOUT_S,
) -> Message:
    """Run the commands that build the program or wheel *name* in *folder*. Return why they failed,
    or NOTHING.

    The commands inherit *lock* (lab.folders). If this process is killed, the next builder waits
    until the command ends.
    """
    output, environment = "", scrubbed_environment() | {"NO_COLOR": "1"}
    for command in commands:
        line = " ".join(command)
        try:
            done = run(command, timeout_s, environment, cwd=folder, pass_fds=(lock,))
        except subprocess.TimeoutExpired:
            return message(
                "not built: {command} did not end within {limit_s:g} s",
                command=line,
                limit_s=timeout_s,
            )
        except OSError as error:
            return _broken(
                message(
                    "{program} could not be started: {error}",
                    program=command[0],
                    error=error.strerror,
                )
            )
        output += done.stdout + done.stderr
        if done.returncode:
            return _explain_failure(name, line, output)
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
