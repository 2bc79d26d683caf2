"""Native programs: what builds each, how each is started, and why one is not there."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput, GilscopeError
from core.system import Program
from lab.environments.build import locked, run
from lab.places import NATIVE_SOURCES

BIN = NATIVE_SOURCES / "bin"
BUILD_TIMEOUT_S = 1800.0
SOURCE_KINDS = (".rs", ".toml", ".c", ".h", ".cpp", ".hpp", ".txt", ".java", ".xml")
BROKEN = "not built, though its tools are here"
PEERS = ("ab", "wrk", "oha", "hey")
LAST_LINES = 6
_LIBRARY = re.compile(r"(?P<name>[a-z-]+): not built: (?P<needs>needs .+)")
# How cargo says it: of a rust-version, before and since its resolver knows it; of an edition that it does not know.
_OLD_RUST = re.compile(
    r"requires rustc \d|rustc [\d.]+\S* is not supported by"
    r"|older than the `\d+` edition|feature `edition\d+` is required"
)
_NO_CRATES = re.compile(
    r"failed to download|failed to fetch|spurious network error|[Cc]ould(?: not|n't) resolve host"
    r"|attempting to make an HTTP request"
)


class ProgramMissing(GilscopeError):
    """A native program is not there; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """How one program is made.

    tools: what must be on PATH
    commands: run in *folder* one after the other
    made: the file that they leave, which is copied to native/bin if it is not there
    """

    name: str
    tools: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    made: Path
    folder: Path = NATIVE_SOURCES

    @property
    def place(self) -> Path:
        """Where the program is once it is built."""
        return BIN / self.made.name

    @property
    def reason_file(self) -> Path:
        """What the last build said, if it failed."""
        return BIN / f"{self.name}.not-built"


def _cargo(name: str) -> Build:
    commands = (("cargo", "build", "--quiet", "--release", "--bin", name),)
    return Build(name=name, tools=("cargo",), commands=commands, made=NATIVE_SOURCES / "target" / "release" / name)


def _cmake(name: str) -> Build:
    configure = ("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release")
    build = ("cmake", "--build", "build", "--target", name)
    return Build(name=name, tools=("cmake", "c++"), commands=(configure, build), made=BIN / name)


def _maven(name: str, folder: str) -> Build:
    home = NATIVE_SOURCES / folder
    made = home / "target" / f"{name}.jar"
    tools = ("java", "javac", "mvn")  # a runtime environment alone has no javac
    return Build(name=name, tools=tools, commands=(("mvn", "-q", "-B", "package"),), made=made, folder=home)


LIMIT = ("loadgen", "calc-service")
BUILDS: dict[str, Build] = {
    one.name: one
    for one in (
        *(_cargo(name) for name in (*LIMIT, "http-echo", "echo-tokio", "axum-server", "http-reqwest")),
        *(_cmake(name) for name in ("echo-libuv", "echo-asio", "echo-coroutine", "http-beast")),
        _maven("echo-netty", "echo/netty"),
    )
}


def command(program: Program) -> list[str]:
    """The command line that starts *program*. Raises ProgramMissing with the reason."""
    why_not = missing(program.name)
    if why_not:
        raise ProgramMissing(why_not)
    if program.name in PEERS:
        return [sys.executable, "-s", "-m", "clients.peers", *program.arguments]
    place = BUILDS[program.name].place
    start = ["java", "-jar", str(place)] if place.suffix == ".jar" else [str(place)]
    return [*start, *program.arguments]


def missing(name: str) -> str:
    """Why the program is not there: `not built: needs cargo`, say; empty if it is.

    One that an earlier build left is not there if the last build failed: it is not made of the sources as they are.
    """
    if name in PEERS:
        return "" if shutil.which(name) else f"not installed: needs {name} on PATH (try: make native-peers)"
    build = BUILDS[name]
    if build.reason_file.exists():
        return _lacking(build) or build.reason_file.read_text(encoding="utf-8")
    return "" if build.place.exists() else _lacking(build) or "not built: try make native"


def make(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Build these programs; of each its name and why it could not be built, empty where it could.

    A program that is newer than all sources is left as it is. Raises BadInput for a name that is none.
    """
    asked = list(names)
    for name in asked:
        if name not in BUILDS:
            raise BadInput(f"{name!r} is not a native program; accepted are {', '.join(BUILDS)}.")
    BIN.mkdir(exist_ok=True)
    with locked(BIN / ".lock") as lock:
        for name in asked:
            yield name, _made(BUILDS[name], lock)


def _made(build: Build, lock: int) -> str:
    lacking = _lacking(build)
    if lacking or _is_current(build):
        return lacking
    reason = _run(build, lock)
    if reason:
        build.reason_file.write_text(reason, encoding="utf-8")
    else:
        build.reason_file.unlink(missing_ok=True)
        if build.made != build.place:
            _put(build.made, build.place)
        os.utime(build.place)
    return reason


def _put(made: Path, place: Path) -> None:
    """Copy beside and rename: the program may be running."""
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    shutil.copy2(made, beside)
    os.replace(beside, place)


def _lacking(build: Build) -> str:
    tools = [tool for tool in build.tools if shutil.which(tool) is None]
    return f"not built: needs {' and '.join(tools)}" if tools else ""


def _is_current(build: Build) -> bool:
    """Whether the last build went well, and the program is newer than every source of its build system."""
    if build.reason_file.exists():
        return False
    try:
        made_s = build.place.stat().st_mtime
    except OSError:
        return False
    return all(made_s > path.stat().st_mtime for path in _sources(build.folder))


def _sources(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("target", "build", "bin", "wheels")]
        yield from (Path(here, name) for name in files if name.endswith(SOURCE_KINDS))


def _run(build: Build, lock: int) -> str:
    """Why the commands of *build* failed; empty if they did not."""
    said = ""
    for line in build.commands:
        try:
            done = run(line, lock, BUILD_TIMEOUT_S, build.folder)
        except subprocess.TimeoutExpired:
            return f"not built: {' '.join(line)} was not done after {BUILD_TIMEOUT_S:.0f} s"
        except OSError as error:
            return f"{BROKEN}: {line[0]} could not be started: {error.strerror}"
        said += done.stdout + done.stderr
        if done.returncode:
            return _reason(build.name, said, line)
    return ""


def _reason(name: str, said: str, line: tuple[str, ...]) -> str:
    """What is missing, if the build said so, or else its last lines."""
    for found in _LIBRARY.finditer(said):
        if found["name"] == name:
            return f"not built: {found['needs'].strip()}"
    return (line[0] == "cargo" and why_cargo_cannot(said)) or f"{BROKEN}: {' '.join(line)} failed: {_last(said)}"


def _last(said: str) -> str:
    return " / ".join(said.strip().splitlines()[-LAST_LINES:])


def why_cargo_cannot(said: str) -> str:
    """Why cargo, which failed and said this, can build nothing of ours here; empty if it is the sources' fault."""
    if _OLD_RUST.search(said):
        return f"not built: needs {_wanted_rust()}"
    return f"{BROKEN}: cargo could not download the crates (no network?)" if _NO_CRATES.search(said) else ""


def _wanted_rust() -> str:
    manifest = tomllib.loads((NATIVE_SOURCES / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["workspace"].get("package", {}).get("rust-version")
    return f"Rust {version} or newer" if version else "a newer Rust"
