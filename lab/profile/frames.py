"""Python stacks and owners of mutexes, read out of a running CPython 3.14 or 3.15: it runs nothing, none stops.

lab.gil.memory tells where things lie. What is read may change meanwhile: who reads must know by other means that the
thread stood still (lab.profile.waits). Source: CPython 3.14 and 3.15, pycore_interpframe_structs.h,
Include/object.h (a free-threaded object's mutex lies 14 bytes before its type), Modules/_threadmodule.c; proc(5).
"""

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic_ns
from typing import NamedTuple

from lab.gil.memory import READ_ERRORS, NotReadable, PythonMemory, mappings, word

DEEPEST = 24  # frames of a stack that are read
MOST_THREADS = 4096
_WINDOW_BYTES = 3072  # before a frame: callers mostly lie there
_MUTEX_BEFORE_TYPE = 14
_LONGEST_TEXT = 4096
_ENCODINGS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}
_LONGEST_LINES = 1 << 20
NOBODY = "-"
_NAME = re.compile(rb"[A-Za-z_][\w.]*\0", re.ASCII)


class RawFrame(NamedTuple):
    """What a frame says of where it is; place() makes a line of it."""

    code: int
    instruction: int
    copy: int  # of its bytecode: each thread has its own on the free-threaded build


class ThreadStack(NamedTuple):
    """A thread's frames, innermost first; read from start_ns to end_ns on the monotonic clock."""

    tid: int
    start_ns: int
    end_ns: int
    frames: tuple[RawFrame, ...]


@dataclass(frozen=True, kw_only=True)
class SourceLine:
    """A line of Python."""

    file: str
    line: int
    function: str


class StackReader(PythonMemory):
    """The Python stacks and mutexes of process *pid*."""

    def __init__(self, pid: int) -> None:
        """Raises NotReadable."""
        super().__init__(pid)
        try:
            types = self.symbols(("PyType_Type", "PyCode_Type"))
            self._type, self._code_type = (types[name].address + self.bias for name in ("PyType_Type", "PyCode_Type"))
        except (*READ_ERRORS, KeyError) as error:
            self.close()
            raise NotReadable(f"process {pid}: {error}") from error
        self._places: dict[RawFrame, SourceLine | None] = {}
        self._types: dict[int, str] = {}
        self._variables: dict[int, str] = {}

    def stacks(self) -> Iterator[ThreadStack]:
        """Of every thread that has a Python stack now."""
        at = self.at
        with suppress(OSError, struct.error):
            thread = self.pointer(self.interpreter + at["interpreter.threads_head"])
            for _ in range(MOST_THREADS):
                if not thread:
                    return
                start_ns = monotonic_ns()
                state = self.read(thread, at["thread.size"])
                frames = tuple(self._frames(word(state, at["thread.current_frame"])))
                yield ThreadStack(word(state, at["thread.native_thread_id"]), start_ns, monotonic_ns(), frames)
                thread = word(state, at["thread.next"])

    def _frames(self, frame: int) -> Iterator[RawFrame]:
        at, size = self.at, self.at["frame.size"]
        window, start = b"", 0
        for _ in range(DEEPEST):
            if not frame:
                return
            if not start <= frame <= start + len(window) - size:
                window, start = self._window(frame, size)
            place = frame - start
            copy = struct.unpack_from("<i", window, place + at["frame.tlbc_index"])[0] if at["frame.tlbc_index"] else 0
            code = word(window, place + at["frame.executable"]) & ~7  # the low bits say how it is counted
            yield RawFrame(code, word(window, place + at["frame.instr_ptr"]), copy)
            frame = word(window, place + at["frame.previous"])

    def _window(self, frame: int, size: int) -> tuple[bytes, int]:
        with suppress(OSError):
            start = max(frame - _WINDOW_BYTES, 0)
            window = self.read(start, frame + size - start)
            return window, start
        return self.read(frame, size), frame

    def place(self, frame: RawFrame) -> SourceLine | None:
        """The line that *frame* is at; None where it is none of Python."""
        if frame not in self._places:
            try:
                self._places[frame] = self._place(frame)
            except READ_ERRORS:
                self._places[frame] = None
        return self._places[frame]

    def _place(self, frame: RawFrame) -> SourceLine | None:
        at, code = self.at, frame.code
        if not code or self.pointer(code + at["object.ob_type"]) != self._code_type:
            return None
        start = code + at["code.co_code_adaptive"]
        if at["code.co_tlbc"]:
            start = self.pointer(self.pointer(code + at["code.co_tlbc"]) + 8 * (frame.copy + 1))
        first = self.integer(code + at["code.firstlineno"])
        line = _line(self._bytes(self.pointer(code + at["code.linetable"])), first, frame.instruction - start)
        file, function = (self._text(self.pointer(code + at[f"code.{name}"])) for name in ("filename", "qualname"))
        return SourceLine(file=file, line=line, function=function)

    def owner(self, mutex: int) -> str:
        """Whose mutex it is: the name of its object's type, or [FILE] that has it as a variable, or NOBODY.

        It is the mutex that every object of a free-threaded build has, or the one right after an object's head, as in
        a threading lock.
        """
        candidates = [mutex - self.at["object.size"]]
        if self.free_threaded:
            candidates.insert(0, mutex + _MUTEX_BEFORE_TYPE - self.at["object.ob_type"])
        for candidate in candidates:
            with suppress(OSError, struct.error):
                if name := self._type_name(candidate):
                    return name
        if mutex not in self._variables:
            self._variables[mutex] = _variable_of(self.pid, mutex)
        return self._variables[mutex]

    def _type_name(self, thing: int) -> str:
        if thing % 8:
            return ""
        kind = meta = self.pointer(thing + self.at["object.ob_type"])
        if kind in self._types:
            return self._types[kind]
        for _ in range(4):  # a type is an instance of type, or of a class that is
            if meta == self._type:
                name = _NAME.match(self.read(self.pointer(kind + self.at["type.tp_name"]), 128))
                self._types[kind] = name[0][:-1].decode() if name else ""
                return self._types[kind]
            with suppress(OSError, struct.error):
                meta = self.pointer(meta + self.at["object.ob_type"])
        return ""

    def _bytes(self, thing: int) -> bytes:
        length = self.pointer(thing + self.at["bytes.ob_size"])
        return self.read(thing + self.at["bytes.ob_sval"], min(length, _LONGEST_LINES))

    def _text(self, thing: int) -> str:
        """A str: ASCII right after its head, or one, two or four bytes a character after a longer one."""
        state = self.pointer(thing + self.at["str.state"]) >> (8 if self.free_threaded else 2)
        length, start = self.pointer(thing + self.at["str.length"]), thing + self.at["str.asciiobject_size"]
        if state & 7 not in _ENCODINGS or length > _LONGEST_TEXT:
            raise ValueError("no str, or one that is longer than any name")
        is_ascii = state >> 4 & 1
        return self.read(start + (0 if is_ascii else 16), length * (state & 7)).decode(_ENCODINGS[state & 7])


def _variable_of(pid: int, address: int) -> str:
    """The file whose variables are at *address*, by its name; those without a value at first follow what it maps."""
    file, end = "", 0
    with suppress(OSError):
        for start, stop, name in mappings(pid):
            file = name or (file if start == end else "")
            end = stop
            if start <= address < stop:
                return f"[{file.rpartition('/')[2]}]" if file.startswith("/") else NOBODY
    return NOBODY


def _line(table: bytes, first: int, offset: int) -> int:
    """The line of the instruction at *offset*, as a code object with the same table has it; 0 where it has none."""
    if not 0 <= offset < _LONGEST_LINES:
        raise ValueError("an instruction that is not of this code")
    code = _line.__code__.replace(co_linetable=table, co_firstlineno=first, co_code=bytes(offset + 2))
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), 0)
