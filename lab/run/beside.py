"""What stands beside the services of a run, such as their database: started, waited for, filled, watched and ended."""

import os
import pwd
import re
import secrets
import shlex
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path
from signal import Signals
from subprocess import TimeoutExpired
from time import monotonic

from config.plan import Plan
from core.beside import HOST, PORT, SOCKET, Beside, filled
from core.errors import BadInput, GilscopeError
from core.messages import Message, message
from core.processtree import tree_ran_ns
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
RUN_DEADLINE_S = 3600.0
TAIL_BYTES = 1500
WHEELS = ("*/bin", "*/*/bin")  # where wheels that ship a server have its programs


class BesideFailed(GilscopeError):
    """A program beside the services that did not get ready, could not be filled with data, or ended too early."""

    @classmethod
    def after(cls, problem: Message, output: bytes) -> "BesideFailed":
        """The problem, and the last lines that the program wrote."""
        text = last_text(output, TAIL_BYTES) or message("nothing")
        return cls("{problem} It wrote: {output}", problem=problem, output=text)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The programs beside the services of a run, by name. variables: by which the services find them"""

    variables: Mapping[str, str] = field(default_factory=dict)
    running: Mapping[str, tuple[Guard, Output]] = field(default_factory=dict)

    def cpu_ns(self) -> Counter[str]:
        """Return the CPU time that each has used so far, with all that it has started."""
        return Counter({name: tree_ran_ns(guard.process.pid) for name, (guard, _) in self.running.items()})

    def expect_alive(self, when: Message) -> None:
        """Raises BesideFailed if one has ended."""
        for name, (guard, output) in self.running.items():
            if guard.process.poll() is not None:
                raise BesideFailed.after(message("{name} ended {when}.", name=name, when=when), output.kept())


@dataclass(frozen=True, kw_only=True)
class _Shell:
    """How commands run: with values in their places, in an environment and a folder. prefix: words before each."""

    values: Mapping[str, str]
    environment: Mapping[str, str]
    folder: Path
    prefix: Sequence[str] = ()

    def words(self, command: str) -> list[str]:
        """Raises BadInput if the program is not there."""
        program, *others = [filled(word, self.values) for word in shlex.split(command)]
        path = shutil.which(program, path=self.environment["PATH"]) or shutil.which(self.folder / program)
        if path is None:
            raise BadInput(
                "{program} was not found; install it, or correct the command {command}.",
                program=program,
                command=command,
            )
        return [*self.prefix, path, *others]

    def run(self, command: str, deadline_s: float = RUN_DEADLINE_S) -> None:
        """Raises BesideFailed if the command fails."""
        try:
            done = run(self.words(command), deadline_s, self.environment, folder=self.folder)
        except TimeoutExpired:
            raise BesideFailed(
                "The command {command} did not end within {limit_s:g} s.", command=command, limit_s=deadline_s
            ) from None
        if done.returncode:
            how = message("The command {command} {ending}.", command=command, ending=ending(done.returncode))
            raise BesideFailed.after(how, (done.stdout + done.stderr).encode())


@contextmanager
def standing(plan: Plan, runtimes: Mapping[str, AnyRuntime]) -> Iterator[Standing]:
    """Start what the plan has beside its services and fill it with data. All of it is gone when the block ends.

    Raises BesideFailed, and BadInput for a program that is not there.
    """
    command = plan.user_service.command if plan.user_service else None
    shell = _Shell(
        values={}, environment=scrubbed_environment(), folder=Path(command.directory if command else "").absolute()
    )
    with ExitStack() as stack:
        made = Standing()
        for beside in plan.beside:
            known = replace(shell, environment={**shell.environment, **made.variables})
            running, variables = stack.enter_context(_started(beside, known))
            made = Standing(variables={**made.variables, **variables}, running={**made.running, beside.name: running})
        if plan.prepare:
            python = _python(plan, runtimes)
            path = os.pathsep.join([str(Path(python).parent), *map(_path, plan.beside), os.environ["PATH"]])
            own = {name: revealed(text) for name, text in command.environment.items()} if command else {}
            variables = {**shell.environment, **made.variables, **own, "PYTHONNOUSERSITE": "1", "PATH": path}
            for step in plan.prepare:
                replace(shell, values={"python": python}, environment=variables).run(step)
        yield made


def _python(plan: Plan, runtimes: Mapping[str, AnyRuntime]) -> str:
    """Return the interpreter of the first service."""
    first = plan.entries()[0]
    runtime = runtime_of(SERVICE, first.system, runtimes, first.cell.runtime, plan.method)
    return runtime.python(first.system) if isinstance(runtime, UserServiceRuntime) else sys.executable


@contextmanager
def _started(beside: Beside, shell: _Shell) -> Iterator[tuple[tuple[Guard, Output], Mapping[str, str]]]:
    """One program, once it is ready, and the variables that tell its address."""
    with PrivateFolder() as private, closing(OutputReader()) as reader:
        lease = ports.lease(HOST)
        values = {"host": HOST, "port": str(lease.port), "password": secrets.token_hex(16)}
        values |= {name: str(private.folder / name) for name in ("data", "config", SOCKET)}
        variables = beside.variables(values)
        shell = _Shell(
            values=values,
            environment={**shell.environment, **variables, "PATH": _path(beside)},
            folder=private.folder if beside.users else shell.folder,
            prefix=_owned(beside, private.folder, filled(beside.config, values)),
        )
        for command in beside.first:
            shell.run(command)
        output = Output()
        streams, words = (output.write_end, output.write_end), shell.words(beside.command)
        with guarded(
            words, shell.environment, folder=shell.folder, streams=streams, stop=Signals[beside.stop]
        ) as guard:
            reader.watch(output)
            _await_ready(beside, shell, Standing(running={beside.name: (guard, output)}))
            yield (guard, output), variables
        lease.give_back()


def _await_ready(beside: Beside, shell: _Shell, standing: Standing) -> None:
    """Raises BesideFailed if it ends, or is not ready in time."""
    until, (guard, output) = monotonic() + beside.start_deadline_s, standing.running[beside.name]
    while not _is_ready(beside.ready, shell):
        standing.expect_alive(message("before it was ready"))
        if monotonic() >= until:
            late = message(
                "{name} was not ready within {limit_s:g} s ({ready}). Correct its command, or raise start_deadline.",
                name=beside.name,
                limit_s=beside.start_deadline_s,
                ready=filled(beside.ready, shell.values),
            )
            raise BesideFailed.after(late, output.kept())
        with suppress(TimeoutExpired):
            guard.process.wait(TURN_S)


def _is_ready(ready: str, shell: _Shell) -> bool:
    if ready not in (PORT, SOCKET):
        with suppress(BesideFailed):
            shell.run(ready, ASK_DEADLINE_S)
            return True
        return False
    with socket.socket(socket.AF_INET if ready == PORT else socket.AF_UNIX) as probe:
        probe.settimeout(ASK_DEADLINE_S)
        return not probe.connect_ex((HOST, int(shell.values[PORT])) if ready == PORT else shell.values[SOCKET])


def _path(beside: Beside) -> str:
    """Return PATH, and before it the folder with all programs: of PATH, of Debian or of a wheel, the newest first."""
    path = os.environ["PATH"].split(os.pathsep)
    patterns = (*beside.folders, *(f"{entry}/{inner}" for entry in sys.path if entry for inner in WHEELS))
    folders = (folder for pattern in patterns for folder in sorted(glob(pattern), key=_version, reverse=True))
    has_all = (
        folder
        for several in (path, folders)
        for folder in several
        if all(os.access(f"{folder}/{program}", os.X_OK) for program in beside.programs)
    )
    return os.pathsep.join([next(has_all, path[0]), *path])


def _version(folder: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", folder)]


def _owned(beside: Beside, folder: Path, config: str) -> list[str]:
    """Make what is in its folder, and return the words before a command that change its CPUs and its user."""
    (folder / "config").write_text(config, encoding="utf-8")
    (folder / "data").mkdir(mode=0o700)
    words = ["taskset", "--cpu-list", ",".join(map(str, beside.pin))] if beside.pin else []
    users = {one.pw_name: one for one in pwd.getpwall()} if os.geteuid() == 0 else {}
    for user in [users[name] for name in beside.users if name in users][:1]:
        for path in (folder, folder / "config", folder / "data"):
            os.chown(path, user.pw_uid, user.pw_gid)
        ids = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}")
        words += ["setpriv", *ids, "--clear-groups", "--pdeathsig=keep"]
    return words
