"""Start, watch and end the programs that run beside the services, such as their database.

commands/running.py and commands/stress.py call standing() once around all measurements of a run. A
Beside (core/user_service.py) declares a program. lab/run/cell_run.py reads RunningBeside for the
CPU time of the programs, and gives its variables to the services. While cells are measured, nothing
here changes.
"""

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
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from signal import Signals
from subprocess import TimeoutExpired
from time import monotonic
from typing import NamedTuple

from config.run_plan import Plan
from core.messages import BadInput, GilscopeError, Message, message
from core.processtree import tree_ran_ns
from core.secret import revealed
from core.system import SERVICE
from core.user_service import HOST, PORT, SOCKET, Beside, filled
from lab.folders import PrivateFolder
from lab.process_output import OutputReader, ProcessOutput, last_text
from lab.processes import Guard, describe_exit, guarded, run, scrubbed_environment
from lab.run.measured_runtimes import Runtimes, UserServiceRuntime, runtime_of
from lab.user_service import ports

TURN_S = 0.05  # between two checks whether a program is ready
ASK_DEADLINE_S = 5.0  # for a command that checks whether a program is ready
RUN_DEADLINE_S = 3600.0  # for a command of --prepare, and for one that runs before a program
# where Debian puts the programs of PostgreSQL, which are not on PATH
DEBIAN = "/usr/lib/postgresql/*/bin"


class BesideFailed(GilscopeError):
    """The error that --prepare failed, or that a program such as a database started too late or
    ended too early.
    """


@dataclass(frozen=True, kw_only=True)
class RunningBeside:
    """The programs that run beside the services, such as a database, by name.

    Both dicts grow while standing() starts the programs, although the object is frozen.
    variables: environment variables that tell the services the programs' addresses
    running: the guard process of each program (lab.processes.guarded), and the program's output
    """

    variables: dict[str, str] = field(default_factory=dict)
    running: dict[str, tuple[Guard, ProcessOutput]] = field(default_factory=dict)

    def cpu_ns(self) -> Counter[str]:
        """Return the CPU time of each program and its descendants so far, in ns."""
        return Counter(
            {name: tree_ran_ns(guard.process.pid) for name, (guard, _) in self.running.items()}
        )

    def expect_alive(self, when: Message) -> None:
        """Raise BesideFailed if a program beside the services has ended."""
        for name, (guard, output) in self.running.items():
            if guard.process.poll() is not None:
                raise _failed(
                    message("{name} ended {when}.", name=name, when=when), output.content()
                )


class _Shell(NamedTuple):
    """The settings with which commands run: values of placeholders, environment variables, and
    folder.

    prefix: words before each command
    """

    values: Mapping[str, str]
    environment: Mapping[str, str]
    folder: Path
    prefix: Sequence[str] = ()

    def words(self, command: str) -> list[str]:
        """Split *command* into words, with the path of its program. Raises BadInput if the program
        does not exist.
        """
        program, *others = (filled(word, self.values) for word in shlex.split(command))
        path = shutil.which(program, path=self.environment["PATH"]) or shutil.which(
            self.folder / program
        )
        if path is None:
            raise BadInput(
                "{program} was not found. Install it, or correct the command {command}.",
                program=program,
                command=command,
            )
        return [*self.prefix, path, *others]

    def run(self, command: str, deadline_s: float = RUN_DEADLINE_S) -> None:
        """Run *command*. Raises BesideFailed if it fails or takes longer than the deadline."""
        try:
            done = run(self.words(command), deadline_s, self.environment, cwd=self.folder)
        except TimeoutExpired:
            raise BesideFailed(
                "The command {command} did not end within {limit_s:g} s.",
                command=command,
                limit_s=deadline_s,
            ) from None
        if done.returncode:
            how = message(
                "The command {command} {ending}.",
                command=command,
                ending=describe_exit(done.returncode),
            )
            raise _failed(how, (done.stdout + done.stderr).encode())


def _failed(problem: Message, output: bytes) -> BesideFailed:
    text = last_text(output) or message("(the program wrote nothing)")
    return BesideFailed("{problem} Output: {output}", problem=problem, output=text)


@contextmanager
def standing(plan: Plan, runtimes: Runtimes) -> Iterator[RunningBeside]:
    """Start the programs that a plan needs beside its services, and run the plan's --prepare
    commands.

    When the `with` block ends, the programs and their data are gone.
    Raises BesideFailed. Raises BadInput if a program is not installed.
    """
    command = plan.user_service.command if plan.user_service else None
    folder, made = Path(command.directory if command else "").absolute(), RunningBeside()
    environment = scrubbed_environment()
    newest_first = sorted(glob(DEBIAN), key=_numbers, reverse=True)
    folders = [environment.get("PATH", os.defpath), *newest_first]
    environment["PATH"] = path = os.pathsep.join(folders)
    with ExitStack() as stack:
        for beside in plan.beside:
            stack.enter_context(_started(beside, made, environment, folder))
        if plan.prepare:
            python = _python(plan, runtimes)
            environment |= made.variables | {
                "PATH": os.pathsep.join([os.path.dirname(python), path])
            }
            environment |= (
                {name: revealed(text) for name, text in command.environment.items()}
                if command
                else {}
            )
            for step in plan.prepare:
                _Shell(values={"python": python}, environment=environment, folder=folder).run(step)
        yield made


def _numbers(path: str) -> list[int]:
    """Return the numbers in a path, so that version 15 sorts after 9.6."""
    return [int(number) for number in re.findall("[0-9]+", path)]


def _python(plan: Plan, runtimes: Runtimes) -> str:
    """Return the path of the interpreter that runs the first service."""
    first = plan.entries()[0]
    runtime = runtime_of(SERVICE, first.system, runtimes, first.cell.runtime, plan.method)
    own = runtime.python(first.system) if isinstance(runtime, UserServiceRuntime) else ""
    return own or sys.executable


@contextmanager
def _started(
    beside: Beside, made: RunningBeside, environment: Mapping[str, str], folder: Path
) -> Iterator[None]:
    """Start a program, add it to *made* with variables of its address, and wait until it is ready.
    Raises BesideFailed.

    The program can use the addresses of those that were started before.
    """
    lease = ports.lease(HOST)  # it lasts as long as this block
    with lease.lock, PrivateFolder() as private, closing(OutputReader()) as reader:
        values = {"host": HOST, "port": str(lease.port), "password": secrets.token_hex(16)}
        values |= {name: str(private.folder / name) for name in ("data", "config", SOCKET)}
        made.variables.update(beside.variables(values))
        shell = _Shell(
            values=values,
            environment={**environment, **made.variables},
            folder=private.folder if beside.users else folder,
            prefix=owned(beside, private.folder, filled(beside.config, values)),
        )
        for command in beside.first:
            shell.run(command)
        output, words = ProcessOutput(), shell.words(beside.command)
        streams, stop = (output.write_end, output.write_end), Signals[beside.stop]
        with guarded(
            words, shell.environment, cwd=shell.folder, streams=streams, stop=stop
        ) as guard:
            reader.watch(output)
            made.running[beside.name] = guard, output
            until = monotonic() + beside.start_deadline_s
            while not _is_ready(beside.ready, shell):
                made.expect_alive(message("during start-up"))
                if monotonic() >= until:
                    late = message(
                        "{name} was not ready within {limit_s:g} s (ready check: {ready}). Correct "
                        "its command, or raise start_deadline.",
                        name=beside.name,
                        limit_s=beside.start_deadline_s,
                        ready=beside.ready,
                    )
                    raise _failed(late, output.content())
                with suppress(TimeoutExpired):
                    guard.process.wait(TURN_S)
            yield


def _is_ready(ready: str, shell: _Shell) -> bool:
    if ready == PORT:
        with socket.socket() as probe:
            return not probe.connect_ex((HOST, int(shell.values[PORT])))
    if ready == SOCKET:
        with socket.socket(socket.AF_UNIX) as probe:
            return not probe.connect_ex(shell.values[SOCKET])
    with suppress(BesideFailed):
        shell.run(ready, ASK_DEADLINE_S)
        return True
    return False


def owned(beside: Beside, folder: Path, config: str) -> list[str]:
    """Make the program's files in *folder*. Return a command prefix that sets its CPUs and its
    user.

    config: the text of its file `config`
    """
    data, file = folder / "data", folder / "config"
    data.mkdir(mode=0o700)
    file.write_text(config, "utf-8")
    words = ["taskset", "--cpu-list", ",".join(map(str, beside.pin))] if beside.pin else []
    users = {one.pw_name: one for one in pwd.getpwall()} if os.geteuid() == 0 else {}
    if user := next(filter(None, map(users.get, beside.users)), None):
        # the folder is the last, because its owner may replace what is in it
        for path in (data, file, folder):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        ids = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}")
        words += ["setpriv", *ids, "--clear-groups", "--pdeathsig=keep"]
    return words
