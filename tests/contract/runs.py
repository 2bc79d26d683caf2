"""`runner.py` as a process of its own, and what it leaves behind. Its processes have a variable of the test."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import pytest

from lab.places import REPOSITORY
from lab.run.measured_runtimes import Runtime

T = TypeVar("T")
NEEDS_LINUX = pytest.mark.skipif(
    not (hasattr(os, "pidfd_open") and Path("/proc/self/environ").exists()), reason="needs Linux: /proc and pidfd"
)
DEADLINE_S = 240.0  # of a whole run: several interpreters start in it, one after the other
TURN_S = 0.03
GONE_WITHIN_S = 10.0
RUNNER, UNREPORTED = REPOSITORY / "runner.py", REPOSITORY / "tests" / "contract" / "unreported.py"
CALLING_SWITCHES = 300  # a process that starts gives up its processor some 50 times, one that calls once a request
SERVICE, CLIENT, NATIVE_CLIENT = "systems service", "systems client", "bin/loadgen"


def is_client(line: str) -> bool:
    """Whether a command line is that of a client."""
    return CLIENT in line or NATIVE_CLIENT in line


def plan_flags(runtime: Runtime, **params: Any) -> list[str]:
    """Flags of a run of system 2 with one service, one client and 20 requests, but for *params*."""
    values = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 20, **params}
    return ["--system", "2", "--blocks", "1", *runtime_flags(runtime), *value_flags(values)]


def service_flags(runtime: Runtime, command: str, *more: str) -> list[str]:
    """Flags of a run of a user's service with one client. command: what Python is told, such as `items.py {port}`"""
    flags = ["--service-command", f"{{python}} {command}", "--request", "/items/3", "--num-clients", "1"]
    return [*flags, "--warmup", "0", *runtime_flags(runtime), *more]


def value_flags(values: Mapping[str, Any]) -> list[str]:
    """Flags that give parameters their values."""
    return [word for name, value in values.items() for word in ("--" + name.lower().replace("_", "-"), str(value))]


def runtime_flags(runtime: Runtime) -> list[str]:
    """Flags that name this interpreter, so that no other is looked for."""
    interpreter = runtime.interpreter
    return ["--runtime", str(runtime.name), "--interpreter", f"{interpreter.name}={interpreter.executable}"]


class Run:
    """One `runner.py`, leader of its process group. said() and complained() have what it wrote, also while it runs."""

    def __init__(self, command: Sequence[str], folder: Path, stdin: int) -> None:
        self.folder = folder
        self._out, self._err = folder / "stdout", folder / "stderr"
        self.temporary = folder / "t"
        self.temporary.mkdir(exist_ok=True)
        with open(self._out, "wb") as out, open(self._err, "wb") as err:
            self.process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=out,
                stderr=err,
                cwd=folder,
                env={**os.environ, "TMPDIR": str(self.temporary), "GILSCOPE_TEST": str(self.temporary)},
                start_new_session=True,
            )

    def said(self) -> str:
        """Its standard output so far."""
        return self._out.read_text()

    def complained(self) -> str:
        """Its standard error so far."""
        return self._err.read_text()

    def status(self, deadline_s: float = DEADLINE_S) -> int:
        """Its exit status, when it has ended."""
        return self.process.wait(deadline_s)

    def signal(self, number: int) -> None:
        """Send a signal to its process group, as a terminal does."""
        os.killpg(self.process.pid, number)

    def children(self) -> dict[int, str]:
        """Command lines of all processes that come of it but itself, by pid."""
        return {pid: line for pid, line in processes_with(self.temporary).items() if pid != self.process.pid}

    def until(self, awaited: str, look: Callable[[], T]) -> T:
        """Wait until *look* finds something; what it finds."""
        for _ in self.turns(awaited):
            if found := look():
                return found
        raise AssertionError("turns do not end")

    def wait_for(self, what: str, count: int = 1) -> list[int]:
        """Wait until *count* children with *what* in their command line are there; their pids."""

        def look() -> list[int]:
            pids = [pid for pid, line in self.children().items() if what in line]
            return pids if len(pids) >= count else []

        return self.until(what, look)

    def wait_until_calling(self) -> dict[int, str]:
        """Wait until a client is sending its requests; all children then."""

        def look() -> dict[int, str]:
            children = self.children()
            return children if calls(children) else {}

        return self.until("a client that calls", look)

    def lines(self, count: int) -> list[str]:
        """Wait for *count* lines of its standard output; all there are then."""

        def look() -> list[str]:
            lines = self.said().split("\n")[:-1]
            return lines if len(lines) >= count else []

        return self.until(f"line {count}", look)

    def leaves_nothing(self) -> bool:
        """Whether all its processes end, those too that were being started, and its temporary folder is empty then."""
        while children := self.children():
            wait_for_ends(children)
        return list(self.temporary.iterdir()) == []

    def leftovers(self, out: Path) -> list[str]:
        """What is left of it soon after its end: processes, temporary and half-written files, an empty folder *out*."""
        until = monotonic() + GONE_WITHIN_S
        while self._left(out) and monotonic() < until:
            signal.sigtimedwait([], TURN_S)
        return self._left(out)

    def _left(self, out: Path) -> list[str]:
        left = [f"process {pid}: {line}" for pid, line in self.children().items()]
        left += map(str, [*self.temporary.iterdir(), *out.rglob(".*")])
        is_empty = out.exists() and not any(out.iterdir())
        return [*left, f"{out} is empty"] if is_empty else left

    def turns(self, awaited: str, deadline_s: float = DEADLINE_S) -> Iterator[None]:
        """Turns of waiting for its end, which must not come; each a chance to look for what is awaited."""
        until = monotonic() + deadline_s
        while monotonic() < until:
            yield
            try:
                status = self.process.wait(TURN_S)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"ended with status {status} before {awaited}: {self.complained()}{self.said()}")
        raise TimeoutError(f"no {awaited} within {deadline_s:.0f} s: {self.complained()}{self.said()}")


@contextmanager
def started(
    arguments: Sequence[str],
    folder: Path,
    *,
    stdin: int = subprocess.DEVNULL,
    files: int = 0,
    script: Path = RUNNER,
) -> Iterator[Run]:
    """A run; whatever is left of it is killed at the end of the block. files: its soft limit on open files."""
    limited = ["sh", "-c", f'ulimit -S -n {files} && exec "$@"', "sh"] if files else []
    run = Run([*limited, sys.executable, str(script), *arguments], folder, stdin)
    try:
        with run.process:
            try:
                yield run
            finally:
                run.process.kill()
    finally:
        for pid in run.children():
            with suppress(ProcessLookupError):
                os.kill(pid, 9)


def finished(arguments: Sequence[str], folder: Path, **how: Any) -> Run:
    """A run that has ended. how: of started()"""
    with started(arguments, folder, **how) as run:
        run.status()
    return run


def processes_with(value: Path) -> dict[int, str]:
    """Command lines of the processes whose environment has a variable of this value. Source: proc_pid_environ(5)."""
    mark, found = f"={value}\0".encode(), {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it has ended, or is another user's
    return found


def calls(children: Mapping[int, str]) -> bool:
    """Whether a client is sending requests."""
    return any(is_client(line) and switches(pid) > CALLING_SWITCHES for pid, line in children.items())


def switches(pid: int) -> int:
    """How often the threads of a process gave up their processor. Source: proc_pid_status(5)."""
    count = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            lines = status.read_text().splitlines()
        except OSError:
            continue  # the thread has ended
        count += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:"))
    return count


def stop(pid: int) -> None:
    """Stop a process, if it runs, and wait until it has been: on a busy machine it may do something yet."""
    os.kill(pid, signal.SIGSTOP)
    status = Path(f"/proc/{pid}/stat")
    while status.read_bytes().rpartition(b") ")[2][:1] not in b"TZX":
        signal.sigtimedwait([], TURN_S)


def wait_for_ends(pids: Iterable[int], deadline_s: float = DEADLINE_S) -> None:
    """Wait until these processes have ended. Raises TimeoutError. Source: pidfd_open(2)."""
    until = monotonic() + deadline_s
    with ExitStack() as stack:
        waiting = []
        for pid in pids:
            with suppress(ProcessLookupError):  # it has ended
                waiting.append(os.pidfd_open(pid))
                stack.callback(os.close, waiting[-1])
        for fd in waiting:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            if not poll.poll(max(0.0, until - monotonic()) * 1000):
                raise TimeoutError(f"a process goes on after {deadline_s} s")


def result_of(folder: Path) -> Any:
    """The result.json in a run's folder."""
    return json.loads((folder / "result.json").read_text())
