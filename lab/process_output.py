"""Captures the output of child processes in memory. It keeps the beginning and the newest part of
each output.

One thread reads the pipes of all processes. After each read it pauses for COALESCE_S, so frequent
small writes wake it rarely. A process that writes faster than the thread reads is blocked, as by a
terminal.

The reading thread wakes up rarely, because the output may be that of measured children
(lab/run/children.py), which each wake-up would disturb. lab/processes.py captures the output of
other commands in the same way. CPython's warnings about unsafe threading, and about a GIL that was
switched on, are found in the output: notices() is for lab/run/children.py and
lab/user_service/service_child.py, switching_modules() for lab/run/cell_results.py and for the audit
(lab/project/package_audit.py). The patterns are texts of CPython.
"""

import fcntl
import os
import re
import selectors
import threading
from contextlib import suppress

from core.wire import OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES

PIPE_BYTES = 256 * 1024  # capacity that is asked of the kernel for each pipe
COALESCE_S = 0.02  # pause between two reads
_READ_BYTES = 64 * 1024  # of one read()
_READS_AT_ONCE = 64  # reads of one pipe before the others have their turn
_CUT = b"\n[...]\n"  # stands for the dropped middle
TAIL_BYTES = 1500  # how much of the end of an output an error shows
# the most lines that notices() returns
MOST_NOTICES = 20
# how many characters of a line notices() keeps
LONGEST_NOTICE = 300
# Python/import.c, import_run_extension
_SWITCHED_ON = re.compile(r"GIL\) has been enabled to load module '([^']+)'")
# texts from Objects/dictobject.c, setobject.c, listobject.c and Modules/_collectionsmodule.c
_THREADS = re.compile(
    r"changed size during iteration|keys changed during iteration|mutated during iteration"
    r"|modified during sort|generator already executing|reentrant call inside"
    r"|objects created in a thread can only be used in that same thread"
    r"|Warning:.*\b(not thread[- ]safe|thread[- ]unsafe|thread[- ]safety)\b",
    re.IGNORECASE,
)


class HeadTailBuffer:
    """A byte buffer that keeps the first and the newest bytes of its input, and drops
    the middle. The sizes are in core/wire.py. Threads may share a buffer.
    """

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._is_cut = False
        self._changing = threading.Lock()

    def add(self, data: bytes) -> None:
        """Append bytes to the buffer."""
        with self._changing:
            room = OUTPUT_HEAD_BYTES - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            # not after every read, because a cut copies the tail
            if len(self._tail) > OUTPUT_TAIL_BYTES + _READ_BYTES:
                del self._tail[:-OUTPUT_TAIL_BYTES]
                self._is_cut = True

    def content(self) -> bytes:
        """Return all input so far; if the middle was dropped, a mark replaces the middle."""
        with self._changing:
            return b"".join([self._head, _CUT if self._is_cut else b"", self._tail])

    def text(self) -> str:
        """Return content() as text."""
        return self.content().decode(errors="replace")


class ProcessOutput(HeadTailBuffer):
    """A pipe that captures a process's output.

    write_end: descriptor for the new process; close it here once the process has been started
    has_ended: whether no process has the write end any more
    """

    def __init__(self) -> None:
        super().__init__()
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        # The pipe keeps its default size on macOS, and if this user's limit for pipes is reached.
        with suppress(AttributeError, OSError):
            fcntl.fcntl(self.write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._reading = threading.Lock()
        self.has_ended = False

    def fileno(self) -> int:
        """Return the file descriptor of the pipe's read end."""
        return self._read_end

    def close_write_end(self) -> None:
        """Close this process's write end, so that the pipe ends when the captured process ends."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def drain(self) -> int:
        """Read all bytes that are in the pipe now, and return their number. Any thread may call
        this.
        """
        taken_bytes = 0
        with self._reading:
            for _ in range(_READS_AT_ONCE):
                try:
                    data = os.read(self._read_end, _READ_BYTES) if self._read_end >= 0 else b""
                except BlockingIOError:
                    break
                if not data:
                    self.has_ended = True
                    break
                self.add(data)
                taken_bytes += len(data)
        return taken_bytes

    def content(self) -> bytes:
        """Read what is in the pipe now. Return the process's output so far; if it is long, only its
        beginning and newest part.
        """
        self.drain()
        return super().content()

    def close(self) -> None:
        """Close both ends of the pipe."""
        self.close_write_end()
        with self._reading:
            if self._read_end >= 0:
                os.close(self._read_end)
                self._read_end = -1


class OutputReader:
    """A thread that reads several processes' pipes until they end. It starts when the first pipe is
    added.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._stopped, self._stopper = os.pipe()
        self._selector.register(self._stopped, selectors.EVENT_READ)
        self._outputs: list[ProcessOutput] = []
        self._thread = threading.Thread(target=self._read, name="output reader", daemon=True)
        self._pause = threading.Event()

    def watch(self, output: ProcessOutput) -> None:
        """Take over *output*: close its write end, read it, and close it in close(). The process
        that writes it must already run.
        """
        output.close_write_end()
        self._outputs.append(output)
        self._selector.register(output, selectors.EVENT_READ)
        if not self._thread.ident:
            # raises RuntimeError if no thread can be started; then there is none to join
            self._thread.start()

    def close(self) -> None:
        """Stop the reading thread, then read and close all pipes. The captured output stays
        available.
        """
        if self._stopper < 0:
            return
        os.close(self._stopper)
        self._stopper = -1
        self._pause.set()
        if self._thread.ident:
            self._thread.join()
        for output in self._outputs:
            output.drain()
            output.close()
        self._selector.close()
        os.close(self._stopped)

    def _read(self) -> None:
        while True:
            ready = [key.fileobj for key, _ in self._selector.select()]
            if self._stopped in ready:
                return
            outputs = [output for output in ready if isinstance(output, ProcessOutput)]
            # 0 if select() was interrupted
            most_bytes = max((output.drain() for output in outputs), default=0)
            for output in outputs:
                if output.has_ended:
                    self._selector.unregister(output)
            # a fuller pipe could fill up during the pause and block its writer
            if most_bytes < PIPE_BYTES // 4:
                self._pause.wait(COALESCE_S)


def last_text(data: bytes, size_bytes: int = TAIL_BYTES) -> str:
    """Return the last *size_bytes* of *data* as text, without control characters."""
    text = data[-size_bytes:].decode(errors="replace")
    return "".join(
        character for character in text if character.isprintable() or character in "\n\t"
    ).strip()


def switching_modules(text: str) -> list[str]:
    """Return the modules that switched the GIL on according to CPython's warnings in *text*,
    without duplicates.
    """
    return list(dict.fromkeys(_SWITCHED_ON.findall(text)))


def notices(text: str) -> list[str]:
    """Return the lines of *text* that report unsafe threading or a GIL that was switched on,
    without duplicates.
    """
    lines = dict.fromkeys(line.strip()[:LONGEST_NOTICE] for line in text.splitlines())
    found = [line for line in lines if _SWITCHED_ON.search(line) or _THREADS.search(line)]
    return found[:MOST_NOTICES]
