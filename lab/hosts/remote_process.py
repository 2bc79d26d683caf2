"""A child process on another host, of which the agent there sends messages.

lab/hosts/connection.py makes a RemoteProcess, and its thread passes the agent's messages to take().
Other threads use it like its base class Process (lab/run/children.py): they wait for fileno()
in a selector, and read. A pair of sockets makes that possible. One byte in it means that _out has
data, and its end means that stdout has ended. _changing guards _out and this pair.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypedDict

from core.messages import NOTHING, Message
from core.wire import MAX_LINE_BYTES
from lab.hosts.protocol import BYTES, LEASE_S, PIECE_BYTES
from lab.process_output import HeadTailBuffer
from lab.run.children import Process
from record import child_lines as record


class Told(TypedDict, total=False):
    """A message of the agent with the number of what the runner asked: its answer, or why there is
    none; or with the number of a child a part of the child's output, or its exit status.

    answer: the pid of a child that was started, or the time on the host's perf_counter_ns()
    out, err: part of its stdout or stderr, "" at the end; status: negative for a signal
    """

    number: int
    answer: record.Time
    error: str
    out: str
    err: str
    status: int


class RemoteProcess(Process):
    """A child process on another host.

    lost: why the connection to its host was lost before the child ended; NOTHING if it was not
    """

    lost: Message = NOTHING

    def __init__(self, tell: Callable[..., None]) -> None:
        """Describe a child that is not started yet. *tell* sends an order about it to the agent."""
        self._tell = tell
        self.stderr = HeadTailBuffer()
        self._has_ended = threading.Event()
        self._status: int | None = None
        self._out, self._changing = bytearray(), threading.Lock()
        self._ready, self._waker = socket.socketpair()

    def fileno(self) -> int:
        """Return a file descriptor that is readable when the child's stdout has data
        or has ended.
        """
        return self._ready.fileno()

    def read(self) -> bytes:
        """Return new data from the child's stdout; b"" when stdout has ended."""
        self._ready.recv(1)
        with self._changing:
            data = bytes(self._out)
            self._out.clear()
        return data

    def write(self, data: bytes) -> None:
        """Write to the child's stdin, in pieces between which the host can be asked
        for its time.
        """
        for start in range(0, len(data), PIECE_BYTES):
            self._tell("write", text=data[start : start + PIECE_BYTES].decode(errors=BYTES))

    def close_stdin(self) -> None:
        """Close the child's stdin."""
        self._tell("close")

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Return the child's exit status, negative for a signal; None after *deadline_s* or if the
        host is lost.
        """
        self._has_ended.wait(deadline_s)
        return self._status

    def kill(self) -> None:
        """Kill the child process if it still runs."""
        self._tell("kill")

    def close(self) -> None:
        """Wait up to LEASE_S for the child to end, and release its resources."""
        self.wait(LEASE_S)
        with self._changing:
            self._ready.close()
            self._waker.close()

    def take(self, told: Told) -> None:
        """Handle a message of the agent about this child process. Only the connection's thread may
        call this.
        """
        if "out" in told:
            self._take_output(told["out"].encode(errors=BYTES))
        elif "err" in told:
            self.stderr.add(told["err"].encode(errors=BYTES))
        else:
            self._status = told["status"]
            self.end()

    def _take_output(self, data: bytes) -> None:
        with self._changing, suppress(OSError):  # this object was closed meanwhile
            if not data:
                self._waker.close()
            # more is dropped, because a longer line fails the cell
            elif len(self._out) <= MAX_LINE_BYTES:
                if not self._out:
                    self._waker.send(b".")
                self._out += data

    def end(self, lost: Message = NOTHING) -> None:
        """Note that the child has ended, or that the connection to its host was *lost*."""
        self.lost = lost
        self._take_output(b"")
        self._has_ended.set()
