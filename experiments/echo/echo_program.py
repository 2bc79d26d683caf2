"""Run an echo server in C, C++ or Java as a service: `python -m experiments.echo.echo_program
COMMAND...`.

This process starts the command with the flags for the cell, follows the child contract for it, and
stops it. It is not in the request path. CPU time, context switches and memory are the program's
alone.

The program prints its facts, one `key: value` per line and `listening` last. With --control, it
answers each line on its stdin with the number of echoed bytes, and stops at the end of file, also
if this process is killed. Linux only.

echo_systems.py names this module as the host of these programs. The standard library is enough.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from time import clock_gettime_ns
from typing import Any, NamedTuple, NoReturn

from core.cell import Cell
from core.child import (
    exit_at_once,
    print_ready,
    print_result,
    read_cell,
    resets,
)
from core.processtree import usage_of, usage_since

END_DEADLINE_S = 5.0  # for the program to end after the end of file


class Use(NamedTuple):
    """What a program has done and used so far.

    usage: with CPU times in ticks (usually 10 ms). cpu_ns: its exact CPU time
    """

    echoed_bytes: int
    usage: dict[str, int]
    cpu_ns: int


class EchoProgram:
    """A running echo server that listens. If it ends before stop(), this process exits."""

    def __init__(self, command: Sequence[str], flags: Sequence[str]) -> None:
        """Start the echo server and wait until it listens."""
        self._command = [*command, *flags, "--control"]
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            bufsize=1,
        )
        self._stopping = False
        self.facts, self.address = self._read_facts()
        threading.Thread(target=self._watch, name="program watch", daemon=True).start()

    def use(self) -> Use:
        """Return how many bytes the echo server has sent back since its start, and its usage."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("\n")
        except BrokenPipeError:
            self._give_up()
        pid, echoed_bytes = self._process.pid, int(self._read_line())
        return Use(echoed_bytes, usage_of([pid]), clock_gettime_ns(_cpu_clock(pid)))

    def stop(self) -> None:
        """Stop the program. Kill it if it does not end within END_DEADLINE_S."""
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
            self._give_up()
        return line.rstrip("\n")

    def _watch(self) -> None:
        self._process.wait()
        if not self._stopping:
            self._give_up()

    def _give_up(self) -> NoReturn:
        """Print how the echo server ended by itself, after its output, and exit."""
        status = self._process.wait()
        how = f"exited with status {status}"
        if status < 0:
            how = f"was killed by {signal.Signals(-status).name}"
        print(f"{' '.join(self._command)} {how}.", file=sys.stderr)
        exit_at_once(status if status > 0 else 1)


def _cpu_clock(pid: int) -> int:
    """Return the id of the CPU-time clock of process *pid*.

    Source: Linux, include/linux/posix-timers.h, make_process_cpuclock; clock_getcpuclockid(3).
    """
    return (~pid << 3) | 2


def flags_of(cell: Cell, service_id: int, folder: str) -> list[str]:
    """Return the program's command-line flags for the measurement *cell*: address, threads and
    socket options.
    """
    place = (
        ["--port", "0"]
        if cell.transport == "tcp"
        else ["--socket", os.path.join(folder, f"{service_id}.0")]
    )
    nodelay = "true" if cell.nodelay else "false"
    sizes = ["--threads", str(cell.num_server_threads), "--buffer-bytes", str(cell.buffer_bytes)]
    return [*place, *sizes, "--nodelay", nodelay]


def serve(program: EchoProgram, message_bytes: int) -> dict[str, Any]:
    """Answer the runner until end of file on stdin, which blocks, then stop the echo server. Return
    the service's result.

    The messages between the runner and this process are those of docs/child-contract.md.
    """
    start = program.use()
    print_ready([program.address], program.facts)
    for _ in resets():
        start = program.use()
    end = program.use()
    program.stop()  # before the last line, so that the program does not disturb the next cell
    echoed_bytes = end.echoed_bytes - start.echoed_bytes
    return {
        **_used(start, end),
        "requests": echoed_bytes // message_bytes,
        "echoed_bytes": echoed_bytes,
        # the program has no GIL
        "gil_enabled_ready": False,
        "gil_enabled_end": False,
    }


def _used(start: Use, end: Use) -> dict[str, int]:
    """Return the resource usage from *start* to *end*, with the keys of a service's result.

    The exact CPU time is divided into user and system time in proportion to the ticks.
    """
    used, cpu_ns = usage_since(start.usage, end.usage), end.cpu_ns - start.cpu_ns
    ticks_ns = used["cpu_user_ns"] + used["cpu_system_ns"]
    system_ns = round(cpu_ns * used["cpu_system_ns"] / ticks_ns) if ticks_ns else 0
    return {**used, "cpu_user_ns": cpu_ns - system_ns, "cpu_system_ns": system_ns}


def main(command: Sequence[str]) -> None:
    """Run the service until the end of file on stdin."""
    first_line = read_cell()
    cell = Cell.from_json(first_line)
    program = EchoProgram(command, flags_of(cell, first_line["service_id"], first_line["folder"]))
    print_result(serve(program, cell.message_bytes))
    exit_at_once()


if __name__ == "__main__":
    main(sys.argv[1:])
