"""Python stacks and owners of mutexes, read out of a running CPython 3.14 or 3.15: it runs nothing, none stops.

Where things lie says the table of offsets for debuggers at the beginning of the interpreter's section .PyRuntime. What
is read may change meanwhile: who reads must know by other means that the thread stood still (lab.profile.waits).
Source: CPython 3.14 and 3.15, Include/internal/pycore_debug_offsets.h (_Py_DebugOffsets), pycore_interpframe_structs.h,
Include/object.h (a free-threaded object's mutex lies 14 bytes before its type), Modules/_threadmodule.c; proc(5).
"""

import os
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns
from typing import NamedTuple

from lab.gil.elf import COOKIE, symbols
from lab.gil.memory import Interpreter, interpreters

VERSION = 0x030E  # of another minor version the table is another
DEEPEST = 24  # frames of a stack that are read
MOST_THREADS = 4096
_WINDOW_BYTES = 3072  # before a frame: callers mostly lie there
_LAYOUT = {  # of 3.14
    "": "free_threaded",
    "runtime": "size finalizing interpreters_head",
    "interpreter": "size id next threads_head threads_main gc modules sysdict builtins ceval_gil gil enabled locked "
    "holder code_object_generation tlbc_generation",
    "thread": "size prev next interp current_frame thread_id native_thread_id datastack_chunk status",
    "frame": "size previous executable instr_ptr localsplus owner stackpointer tlbc_index",
    "code": "size filename name qualname linetable firstlineno argcount names kinds co_code_adaptive co_tlbc",
    "object": "size ob_type",
    "type": "size tp_name tp_repr tp_flags",
    "tuple": "size ob_item ob_size",
    "list": "size ob_item ob_size",
    "set": "size used table mask",
    "dict": "size ma_keys ma_values",
    "float": "size ob_fval",
    "long": "size lv_tag ob_digit",
    "bytes": "size ob_size ob_sval",
    "str": "size state length asciiobject_size",
}
_NEWER = {  # what 3.15 has otherwise
    "thread": "size prev next interp current_frame base_frame last_profiled_frame last_profiled_frame_seq thread_id "
    "native_thread_id datastack_chunk status holds_gil gil_requested current_exception exc_state exc_value",
    "type": "size tp_name tp_repr tp_flags tp_basicsize tp_dictoffset ht_size ht_cached_keys",
}


def _fields(layout: Mapping[str, str]) -> list[str]:
    return [f"{group}.{field}" for group, fields in layout.items() for field in fields.split()]


_TABLES = {0x030E: _fields(_LAYOUT), 0x030F: _fields(_LAYOUT | _NEWER)}  # by version; of another it may be another
KNOWN = "3.14", "3.15"
_HEAD = struct.Struct("<8sQ")  # cookie, version
_MUTEX_BEFORE_TYPE = 14
_LONGEST_TEXT = 4096
_ENCODINGS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}
_LONGEST_LINES = 1 << 20
NOBODY = "-"
_NAME = re.compile(rb"[A-Za-z_][\w.]*\0", re.ASCII)


class NotReadable(Exception):
    """The process is no CPython that is known here, or its memory may not be read."""


class RawFrame(NamedTuple):
    """What a frame says of where it is; place() makes a line of it."""

    code: int
    instruction: int
    copy: int  # of its bytecode: each thread has its own on the free-threaded build


class Stack(NamedTuple):
    """A thread's frames, innermost first; read from start_ns to end_ns on the monotonic clock."""

    tid: int
    start_ns: int
    end_ns: int
    frames: tuple[RawFrame, ...]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A line of Python."""

    file: str
    line: int
    function: str


class PythonProcess:
    """The memory of process *pid*. interpreter: the file that it runs."""

    def __init__(self, pid: int) -> None:
        """Raises NotReadable."""
        with ExitStack() as stack:
            try:
                self._memory = stack.enter_context(open(f"/proc/{pid}/mem", "rb", buffering=0))
                self.interpreter, self._at = self._found(pid)
                with open(self.interpreter.file, "rb") as file:
                    types = symbols(file.fileno(), ["PyType_Type", "PyCode_Type"])
                self._type = types["PyType_Type"].address + self.interpreter.bias
                self._code_type = types["PyCode_Type"].address + self.interpreter.bias
            except (OSError, ValueError, KeyError, struct.error) as error:
                raise NotReadable(f"process {pid}: {error}") from error
            stack.pop_all()
        self.pid, self.free_threaded = pid, bool(self._at[".free_threaded"])
        self._places: dict[RawFrame, Place | None] = {}
        self._types: dict[int, str] = {}
        self._variables: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"PythonProcess({self.pid}, {self.interpreter.file})"

    def close(self) -> None:
        """It is read no more."""
        self._memory.close()

    def _found(self, pid: int) -> tuple[Interpreter, dict[str, int]]:
        for interpreter in interpreters(pid):
            cookie, version = _HEAD.unpack(self._read(interpreter.runtime, _HEAD.size))
            fields = _TABLES.get(version >> 16)
            if cookie == COOKIE and fields:
                table = self._read(interpreter.runtime + _HEAD.size, 8 * len(fields))
                return interpreter, dict(zip(fields, struct.unpack(f"<{len(fields)}Q", table), strict=True))
        raise ValueError(f"no CPython {' or '.join(KNOWN)}")

    def stacks(self) -> Iterator[Stack]:
        """Of every thread that has a Python stack now."""
        at = self._at
        with suppress(OSError, struct.error):
            interpreter = self._pointer(self.interpreter.runtime + at["runtime.interpreters_head"])
            thread = self._pointer(interpreter + at["interpreter.threads_head"])
            for _ in range(MOST_THREADS):
                if not thread:
                    return
                start_ns = monotonic_ns()
                state = self._read(thread, at["thread.size"])
                frames = tuple(self._frames(_word(state, at["thread.current_frame"])))
                yield Stack(_word(state, at["thread.native_thread_id"]), start_ns, monotonic_ns(), frames)
                thread = _word(state, at["thread.next"])

    def _frames(self, frame: int) -> Iterator[RawFrame]:
        at, size = self._at, self._at["frame.size"]
        window, start = b"", 0
        for _ in range(DEEPEST):
            if not frame:
                return
            if not start <= frame <= start + len(window) - size:
                window, start = self._window(frame, size)
            place = frame - start
            copy = struct.unpack_from("<i", window, place + at["frame.tlbc_index"])[0] if at["frame.tlbc_index"] else 0
            code = _word(window, place + at["frame.executable"]) & ~7  # the low bits say how it is counted
            yield RawFrame(code, _word(window, place + at["frame.instr_ptr"]), copy)
            frame = _word(window, place + at["frame.previous"])

    def _window(self, frame: int, size: int) -> tuple[bytes, int]:
        with suppress(OSError):
            start = max(frame - _WINDOW_BYTES, 0)
            window = self._read(start, frame + size - start)
            return window, start
        return self._read(frame, size), frame

    def place(self, frame: RawFrame) -> Place | None:
        """The line that *frame* is at; None where it is none of Python."""
        if frame not in self._places:
            try:
                self._places[frame] = self._place(frame)
            except (OSError, ValueError, struct.error):
                self._places[frame] = None
        return self._places[frame]

    def _place(self, frame: RawFrame) -> Place | None:
        at, code = self._at, frame.code
        if not code or self._pointer(code + at["object.ob_type"]) != self._code_type:
            return None
        start = code + at["code.co_code_adaptive"]
        if at["code.co_tlbc"]:
            start = self._pointer(self._pointer(code + at["code.co_tlbc"]) + 8 * (frame.copy + 1))
        first = struct.unpack("<i", self._read(code + at["code.firstlineno"], 4))[0]
        line = _line(self._bytes(self._pointer(code + at["code.linetable"])), first, frame.instruction - start)
        file, function = (self._text(self._pointer(code + at[f"code.{name}"])) for name in ("filename", "qualname"))
        return Place(file=file, line=line, function=function)

    def owner(self, mutex: int) -> str:
        """Whose mutex it is: the name of its object's type, or [FILE] that has it as a variable, or NOBODY.

        It is the mutex that every object of a free-threaded build has, or the one right after an object's head, as in
        a threading lock.
        """
        candidates = [mutex - self._at["object.size"]]
        if self.free_threaded:
            candidates.insert(0, mutex + _MUTEX_BEFORE_TYPE - self._at["object.ob_type"])
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
        kind = meta = self._pointer(thing + self._at["object.ob_type"])
        if kind in self._types:
            return self._types[kind]
        for _ in range(4):  # a type is an instance of type, or of a class that is
            if meta == self._type:
                name = _NAME.match(self._read(self._pointer(kind + self._at["type.tp_name"]), 128))
                self._types[kind] = name[0][:-1].decode() if name else ""
                return self._types[kind]
            with suppress(OSError, struct.error):
                meta = self._pointer(meta + self._at["object.ob_type"])
        return ""

    def _read(self, address: int, size_bytes: int) -> bytes:
        try:
            return os.pread(self._memory.fileno(), size_bytes, address)
        except OverflowError as error:  # no address at all
            raise OSError(str(error)) from error

    def _pointer(self, address: int) -> int:
        return _word(self._read(address, 8), 0)

    def _bytes(self, thing: int) -> bytes:
        length = self._pointer(thing + self._at["bytes.ob_size"])
        return self._read(thing + self._at["bytes.ob_sval"], min(length, _LONGEST_LINES))

    def _text(self, thing: int) -> str:
        """A str: ASCII right after its head, or one, two or four bytes a character after a longer one."""
        state = self._pointer(thing + self._at["str.state"]) >> (8 if self.free_threaded else 2)
        length, start = self._pointer(thing + self._at["str.length"]), thing + self._at["str.asciiobject_size"]
        if state & 7 not in _ENCODINGS or length > _LONGEST_TEXT:
            raise ValueError("no str, or one that is longer than any name")
        is_ascii = state >> 4 & 1
        return self._read(start + (0 if is_ascii else 16), length * (state & 7)).decode(_ENCODINGS[state & 7])


def _variable_of(pid: int, address: int) -> str:
    """The file whose variables are at *address*, by its name; those without a value at first follow what it maps."""
    file, end = "", ""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
            span, _, _, _, _, *name = line.split(maxsplit=5)
            start, _, stop = span.partition("-")
            file = name[0] if name else file if start == end else ""
            end = stop
            if int(start, 16) <= address < int(stop, 16):
                return f"[{file.rpartition('/')[2]}]" if file.startswith("/") else NOBODY
    return NOBODY


def _word(data: bytes, offset: int) -> int:
    return int(struct.unpack_from("<Q", data, offset)[0])


def _line(table: bytes, first: int, offset: int) -> int:
    """The line of the instruction at *offset*, as a code object with the same table has it; 0 where it has none."""
    if not 0 <= offset < _LONGEST_LINES:
        raise ValueError("an instruction that is not of this code")
    code = _line.__code__.replace(co_linetable=table, co_firstlineno=first, co_code=bytes(offset + 2))
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), 0)
