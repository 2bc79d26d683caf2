"""What stands beside the services of a run, such as their database: started, waited for, filled, watched and ended."""

import os
import pwd
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from config.plan import Plan
from core.beside import HOST, PORT, SOCKET, Beside, filled
from core.errors import BadInput, GilscopeError
from core.messages import Message, message
from core.method import Method
from core.processtree import tree_ran_ns
from core.redact import Redactor
from core.secret import revealed
from core.system import SERVICE
from lab.folders import PrivateFolder
from lab.output import Output, OutputReader, last_text
from lab.processes import Guard, ending, guarded, run
from lab.python.interpreters import scrubbed_environment
from lab.run.runtimes import AnyRuntime, UserServiceRuntime, runtime_of
from lab.user_service import ports

TURN_S = 0.05
ASK_DEADLINE_S = 5.0
FIRST_DEADLINE_S = 120.0
PREPARE_DEADLINE_S = 3600.0
TAIL_BYTES = 1500
WHEELS = ("*/bin", "*/*/bin")  # where wheels that ship a server have its programs


class BesideFailed(GilscopeError):
    """A program beside the services that did not get ready, could not be filled with data, or ended too early."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """A program that runs. secret: its password"""

    name: str
    guard: Guard
    output: Output
    secret: str

    def expect_alive(self, what_now: Message) -> None:
        """Raises BesideFailed if it has ended. what_now: a sentence"""
        if self.guard.process.poll() is not None:
            raise self.failed(message("{name} ended. {what_now}", name=self.name, what_now=what_now))

    def failed(self, problem: Message) -> BesideFailed:
        """The error with the last lines that it wrote."""
        return _failed(problem, self.output.kept(), self.secret)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The programs beside the services of a run. variables: by which the services find them"""

    variables: Mapping[str, str] = field(default_factory=dict)
    running: tuple[Running, ...] = ()

    def cpu_ns(self) -> Counter[str]:
        """Return the CPU time that each has used so far, with all that it has started."""
        return Counter({one.name: tree_ran_ns(one.guard.process.pid) for one in self.running})

    def expect_alive(self, what_now: Message) -> None:
        """Raises BesideFailed if one has ended."""
        for one in self.running:
            one.expect_alive(what_now)


def expect_programs(plan: Plan) -> None:
    """Raises BadInput for a program that is not installed, or for CPUs that this machine lacks."""
    for beside in plan.beside:
        path = _path(beside)
        for command in (*beside.first, beside.command, *([] if beside.ready in (PORT, SOCKET) else [beside.ready])):
            program = shlex.split(command)[0]
            if shutil.which(_directory(plan) / program if "/" in program else program, path=path) is None:
                raise _missing(beside, program)
        Method(pin_services=beside.pin).expect_cpus()


@contextmanager
def standing(plan: Plan, runtimes: Mapping[str, AnyRuntime]) -> Iterator[Standing]:
    """Start what the plan has beside its services and fill it with data. All of it is gone when the block ends.

    Raises BesideFailed.
    """
    environment, told = scrubbed_environment(), dict[str, str]()
    with ExitStack() as stack:
        running = []
        for beside in plan.beside:
            one, variables = stack.enter_context(_started(beside, environment | told, _directory(plan)))
            running.append(one)
            told |= variables
        for command in plan.prepare:
            _prepare(command, plan, runtimes, environment | told, running)
        yield Standing(variables=told, running=tuple(running))


@contextmanager
def _started(
    beside: Beside, environment: Mapping[str, str], directory: Path
) -> Iterator[tuple[Running, Mapping[str, str]]]:
    """One program, once it is ready, and the variables that tell its address."""
    with PrivateFolder() as private, closing(OutputReader()) as reader:
        lease, paths = ports.lease(HOST), {name: str(private.folder / name) for name in ("data", "config", "socket")}
        values = {"host": HOST, "port": str(lease.port), "password": secrets.token_hex(16), **paths}
        user = _owner(beside, private.folder, filled(beside.config, values))
        variables = beside.variables(values)
        environment = {**environment, **variables, "PATH": _path(beside)}
        folder, prefix = (private.folder if user else directory), _prefix(beside, user)
        for command in beside.first:
            done = run([*prefix, *_words(command, values)], FIRST_DEADLINE_S, environment, folder=folder)
            if done.returncode:
                how = message("{command} {ending}.", command=_program(command), ending=ending(done.returncode))
                raise _failed(how, (done.stdout + done.stderr).encode(), values["password"])
        output, words = Output(), [*prefix, *_words(beside.command, values)]
        streams, stop = (output.write_end, output.write_end), signal.Signals[beside.stop]
        with guarded(words, environment, folder=folder, streams=streams, stop=stop) as guard:
            reader.watch(output)
            running = Running(name=beside.name, guard=guard, output=output, secret=values["password"])
            _await_ready(beside, running, values, environment, folder)
            yield running, variables
        lease.give_back()


def _await_ready(
    beside: Beside, running: Running, values: Mapping[str, str], environment: Mapping[str, str], folder: Path
) -> None:
    """Raises BesideFailed if it ends, or is not ready in time."""
    until = monotonic() + beside.start_deadline_s
    while not _is_ready(beside.ready, values, environment, folder):
        running.expect_alive(message("It was not ready before."))
        if monotonic() >= until:
            raise running.failed(
                message(
                    "{name} was not ready within {limit_s:g} s, by {ready}. Give it more time with start_deadline, or "
                    "correct its command.",
                    name=beside.name,
                    limit_s=beside.start_deadline_s,
                    ready=filled(beside.ready, values),
                )
            )
        with suppress(subprocess.TimeoutExpired):
            running.guard.process.wait(TURN_S)


def _is_ready(ready: str, values: Mapping[str, str], environment: Mapping[str, str], folder: Path) -> bool:
    if ready in (PORT, SOCKET):
        kind, place = (
            (socket.AF_INET, (HOST, int(values["port"]))) if ready == PORT else (socket.AF_UNIX, values[SOCKET])
        )
        with socket.socket(kind) as probe:
            probe.settimeout(ASK_DEADLINE_S)
            return probe.connect_ex(place) == 0
    try:
        return run(_words(ready, values), ASK_DEADLINE_S, environment, folder=folder).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _prepare(
    command: str,
    plan: Plan,
    runtimes: Mapping[str, AnyRuntime],
    environment: Mapping[str, str],
    running: Sequence[Running],
) -> None:
    """Run a command that fills what runs with data, as the service would run. Raises BesideFailed, BadInput."""
    entry = plan.entries()[0]
    runtime = runtime_of(SERVICE, entry.system, runtimes, entry.cell.runtime, plan.method)
    python = runtime.python(entry.system) if isinstance(runtime, UserServiceRuntime) else sys.executable
    own = plan.user_service.command.environment if plan.user_service and plan.user_service.command else {}
    folders = [str(Path(python).parent), *map(_path, plan.beside)]
    environment = {
        **environment,
        **{name: revealed(text) for name, text in own.items()},
        "PYTHONNOUSERSITE": "1",
        "PATH": os.pathsep.join(folders),
    }
    words = _words(command, {"python": python})
    program = shutil.which(words[0], path=environment["PATH"]) or str(_directory(plan) / words[0])
    try:
        done = run(words, PREPARE_DEADLINE_S, environment, folder=_directory(plan), program=program)
    except OSError as error:
        raise BadInput(
            "The command {command} cannot be started: {error}. Correct --prepare.",
            command=command,
            error=error.strerror,
        ) from None
    except subprocess.TimeoutExpired:
        raise BesideFailed("The command {command} did not end within an hour.", command=command) from None
    for one in running:
        one.expect_alive(message("It ran {command} before.", command=command))
    if done.returncode:
        how = message("The command {command} {ending}.", command=command, ending=ending(done.returncode))
        raise _failed(how, (done.stdout + done.stderr).encode(), *(one.secret for one in running))


def _words(command: str, values: Mapping[str, str]) -> list[str]:
    return [filled(word, values) for word in shlex.split(command)]


def _program(command: str) -> str:
    return shlex.split(command)[0]


def _directory(plan: Plan) -> Path:
    """Where the user's commands run."""
    command = plan.user_service.command if plan.user_service else None
    return Path(command.directory if command else "").absolute()


def _path(beside: Beside) -> str:
    """Return PATH, with the folder first that has all programs: of PATH, of Debian or of a wheel, the newest first."""
    path = os.environ.get("PATH", os.defpath)
    wheels = [Path(entry) / pattern for entry in sys.path if entry for pattern in WHEELS]
    patterns = [Path(folder) for folder in beside.folders] + wheels * bool(beside.programs)
    found = [
        folder
        for pattern in patterns
        for folder in sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))), key=_version)
    ]
    for folder in [*map(Path, path.split(os.pathsep)), *found]:
        if beside.programs and all(os.access(folder / program, os.X_OK) for program in beside.programs):
            return os.pathsep.join([str(folder), path])
    return path


def _version(folder: Path) -> list[int]:
    return [-int(number) for number in re.findall(r"[0-9]+", str(folder))]


def _owner(beside: Beside, folder: Path, config: str) -> pwd.struct_passwd | None:
    """Make its folder, and return the user whose it is; None for the user of this process."""
    paths = (folder / "config", folder / "data", folder)
    paths[0].write_text(config, encoding="utf-8")
    paths[1].mkdir(mode=0o700)
    known = [one.pw_name for one in pwd.getpwall()] if beside.users and os.geteuid() == 0 else []
    user = next((pwd.getpwnam(name) for name in beside.users if name in known), None)
    if user:
        for path in paths:
            os.chown(path, user.pw_uid, user.pw_gid)
    return user


def _prefix(beside: Beside, user: pwd.struct_passwd | None) -> list[str]:
    """Return the words before a command that change its CPUs and its user."""
    cpus = ["taskset", "--cpu-list", ",".join(map(str, beside.pin))] if beside.pin else []
    if user is None:
        return cpus
    ids = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--pdeathsig=keep")
    return [*cpus, "setpriv", *ids]


def _failed(problem: Message, output: bytes, *secret: str) -> BesideFailed:
    text = Redactor(secret).text(last_text(output, TAIL_BYTES))
    if not text:
        return BesideFailed("{problem} It wrote nothing.", problem=problem)
    return BesideFailed("{problem} Its last lines: {output}", problem=problem, output=text)


def _missing(beside: Beside, program: str) -> BadInput:
    if not beside.package:
        return BadInput(
            "{program}, which starts {name}, was not found. Install it, or give its path.",
            program=program,
            name=beside.name,
        )
    return BadInput(
        "{program} was not found, which {name} needs. On Debian: apt-get install {package}",
        program=program,
        name=beside.name,
        package=beside.package,
    )
