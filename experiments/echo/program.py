"""The service role of an echo server in C, C++ or Java: `python -m experiments.echo.program COMMAND...`.

Starts the command with the flags that the cell asks for, speaks the child contract for it and stops it. This process
is not in the request path. CPU time, context switches and memory are those of the program alone.

The program states its facts, one `key: value` a line and `listening` last. With --control it answers each line on its
stdin with the bytes echoed so far, and stops at end of file: so it also ends when this process is killed. Linux.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import clock_gettime_ns
from typing import Any, NoReturn

from core.cell import Cell
from core.child import exit_at_once, next_word, read_cell, run_queue_ns, say_done, say_ready, say_result, stay_on
from core.errors import BadInput, GilscopeError
from core.messages import message
from core.processtree import TreeUsage, usage_of

BAD_INPUT = 2
END_DEADLINE_S = 5.0
GIL_OFF = {"gil_enabled_ready": False, "gil_enabled_end": False}


class ProgramEnded(GilscopeError):
    """The program ended before it was asked to; status is the exit status for this process."""

    def __init__(self, command: Sequence[str], status: int) -> None:
        how = (
            message("was killed by {signal}", signal=signal.Signals(-status).name)
            if status < 0
            else message("exited with status {status}", status=status)
        )
        super().__init__(message("{command} {how}.", command=" ".join(command), how=how))
        self.status = status if status > 0 else 1


class EchoProgram:
    """An echo server that runs and listens."""

    def __init__(self, command: Sequence[str], flags: Sequence[str]) -> None:
        """Raise ProgramEnded if it does not start to listen."""
        self._command = [*command, *flags, "--control"]
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", bufsize=1
        )
        self._stopping = False
        self.facts, self.address = self._read_facts()
        threading.Thread(target=self._watch, name="program watch", daemon=True).start()

    def __repr__(self) -> str:
        return f"EchoProgram({' '.join(self._command)}, pid {self._process.pid})"

    def echoed_bytes(self) -> int:
        """Bytes sent back since it was started. Raises ProgramEnded."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("\n")
        except BrokenPipeError:
            self._raise_ended()
        return int(self._read_line())

    def usage(self) -> "ProgramUsage":
        """What the operating system has counted for it so far."""
        return ProgramUsage.of(self._process.pid)

    def stop(self) -> None:
        """Ask it to end, and kill it if it has not after END_DEADLINE_S."""
        assert self._process.stdin is not None
        self._stopping = True
        self._process.stdin.close()
        try:
            self._process.wait(END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _read_facts(self) -> tuple[dict[str, Any], str]:
        facts: dict[str, Any] = {"gil_enabled": False, "packages": {}}
        while True:
            key, _, value = self._read_line().partition(": ")
            if key == "listening":
                return facts, value
            if key == "package":
                name, _, version = value.partition(" ")
                facts["packages"][name] = version
            else:
                facts[key] = value

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._raise_ended()
        return line.rstrip("\n")

    def _raise_ended(self) -> NoReturn:
        raise ProgramEnded(self._command, self._process.wait())

    def _watch(self) -> None:
        status = self._process.wait()
        if not self._stopping:
            give_up(ProgramEnded(self._command, status))


@dataclass(frozen=True, kw_only=True)
class ProgramUsage:
    """Counts for one process since it was started; memory as it is now.

    tree: switches and memory of the process, and its CPU times in ticks of the kernel (10 ms as a rule)
    cpu_ns: its CPU time to the nanosecond, user and system together
    """

    tree: TreeUsage
    cpu_ns: int
    run_queue_ns: int

    @classmethod
    def of(cls, pid: int) -> "ProgramUsage":
        """The usage of process *pid*."""
        return cls(tree=usage_of([pid]), cpu_ns=clock_gettime_ns(_cpu_clock(pid)), run_queue_ns=run_queue_ns(pid))

    def since(self, start: "ProgramUsage") -> dict[str, int]:
        """As the result of a service has it. The ticks only divide the exact CPU time into user and system."""
        used, cpu_ns = self.tree.since(start.tree).to_json(), self.cpu_ns - start.cpu_ns
        ticks_ns = used["cpu_user_ns"] + used["cpu_system_ns"]
        system_ns = round(cpu_ns * used["cpu_system_ns"] / ticks_ns) if ticks_ns else 0
        exact = {"cpu_user_ns": cpu_ns - system_ns, "cpu_system_ns": system_ns}
        return {**used, **exact, "run_queue_ns": self.run_queue_ns - start.run_queue_ns}


def _cpu_clock(pid: int) -> int:
    """The clock of all CPU time of process *pid*.

    Source: Linux, include/linux/posix-timers.h, make_process_cpuclock; clock_getcpuclockid(3).
    """
    return (~pid << 3) | 2


def flags_of(cell: Cell, service_id: int, folder: str) -> list[str]:
    """The program's flags for *cell*: where it listens and what its connections have."""
    place = ["--port", "0"] if cell.transport == "tcp" else ["--socket", os.path.join(folder, f"{service_id}.0")]
    nodelay = "true" if cell.nodelay else "false"
    sizes = ["--threads", str(cell.num_server_threads), "--buffer-bytes", str(cell.buffer_bytes)]
    return [*place, *sizes, "--nodelay", nodelay]


def serve(program: EchoProgram, message_bytes: int) -> dict[str, Any]:
    """Say ready, obey `reset` and stop the program at end of file on stdin; the result of the service."""
    start_bytes, start = program.echoed_bytes(), program.usage()
    say_ready([program.address], program.facts)
    while word := next_word():
        if word == "reset":
            start_bytes, start = program.echoed_bytes(), program.usage()
            say_done(word)
    echoed_bytes, used = program.echoed_bytes() - start_bytes, program.usage().since(start)
    program.stop()  # before the last line: then nothing of it disturbs the next cell
    return {**used, "requests": echoed_bytes // message_bytes, "echoed_bytes": echoed_bytes, **GIL_OFF}


def told_cell() -> tuple[Mapping[str, Any], Cell]:
    """What this child is told. Raises BadInput."""
    try:
        told = read_cell()
        return told, Cell.from_json(told)
    except (ValueError, KeyError) as error:
        raise BadInput(
            "The first line of standard input is not a cell; it must be a JSON object: {error}", error=str(error)
        ) from None


def main(command: Sequence[str]) -> None:
    """Be a service until end of file on stdin."""
    try:
        told, cell = told_cell()
        stay_on(told.get("cpus", ()))
        flags = flags_of(cell, told["service_id"], told["folder"])
        say_result(serve(EchoProgram(command, flags), cell.message_bytes))
    except (BadInput, ProgramEnded) as error:
        give_up(error)
    exit_at_once()


def give_up(error: GilscopeError) -> NoReturn:
    """Say why on stderr, below what the program wrote there, and exit."""
    print(error, file=sys.stderr)
    exit_at_once(error.status if isinstance(error, ProgramEnded) else BAD_INPUT)


if __name__ == "__main__":
    main(sys.argv[1:])
