"""Read Python stacks and the owners of mutexes from the memory of a running CPython 3.14 or 3.15
process.

The process runs no code for this and is not stopped. lab.user_service.process_memory finds the
offsets of CPython's structures. The process may change its memory during the reading, so a caller
must know from another source that a thread did not run (lab.profile.lock_waits).
lab/profile/lock_watcher.py has a FrameReader per process, and calls stacks() and owner() in each
round of samples. There, speed counts: stacks() only copies addresses, and place() finds the source
line afterwards, from code objects that must still exist. All addresses are of the other process.
Source: CPython 3.14 and 3.15, pycore_interpframe_structs.h, Include/object.h (a free-threaded
    object's mutex lies 14 bytes before its type), Modules/_threadmodule.c; proc(5).
"""

import re
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache
from time import monotonic_ns
from typing import NamedTuple

from lab.user_service.process_memory import READ_ERRORS, TYPES, PythonMemory, mappings, word

# functions of a free-threaded interpreter that count references of objects which threads share
SHARED_COUNTS = (
    "_Py_DecRefShared",
    "_Py_DecRefSharedDebug",
    "_Py_MergeZeroLocalRefcount",
    "_Py_DecRefSharedIsDead",
)
DEEPEST = 24  # only the innermost frames of a stack are read
# the list of threads may change while it is read, so that its end is never reached
MOST_THREADS = 4096
# of memory, the smallest; a frame is read with what lies before it in its page, because the frames
# of its callers mostly do
_PAGE_BYTES = 4096
# how many bytes before its type the mutex of a free-threaded object lies
_MUTEX_BEFORE_TYPE = 14
# characters; a longer name means that the memory has changed
_LONGEST_TEXT = 4096
# by bytes per character, which is the `kind` of a str
_ENCODINGS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}
# bytes of a table of line numbers, and of an offset in bytecode
_LONGEST_LINES = 1 << 20
# the owner of a mutex that belongs to no known object or file; also in result.json
NO_OWNER = "-"
# the name of a type, such as dict or threading.Lock, up to its final zero
_NAME = re.compile(rb"[A-Za-z_][\w.]*\0", re.ASCII)


class RawFrame(NamedTuple):
    """The addresses of a Python frame's code object and instruction, from which the source line is
    found later.
    """

    code: int
    instruction: int
    # number of the copy of its bytecode: on the free-threaded build each thread has its own copy
    copy: int


class ThreadStack(NamedTuple):
    """The frames of a thread, innermost first, read between start_ns and end_ns on the monotonic
    clock.
    """

    pid: int
    tid: int
    start_ns: int
    end_ns: int
    frames: tuple[RawFrame, ...]


class SourceLine(NamedTuple):
    """A line of Python source code."""

    file: str
    line: int
    function: str


class FrameReader(PythonMemory):
    """A reader of the Python stacks and mutexes of process *pid*.

    shared_counts: the addresses of the functions that count references of shared objects
    """

    def __init__(self, pid: int, names: Collection[str] = ()) -> None:
        """Open the process's memory. Raises NotReadable.

        names: other wanted symbols
        """
        super().__init__(pid, (*SHARED_COUNTS, *names))
        self._type, self._code_type = (self.symbols[name].address for name in TYPES)
        self.shared_counts = [
            range(symbol.address, symbol.address + symbol.size_bytes)
            for name, symbol in self.symbols.items()
            if name in SHARED_COUNTS
        ]
        # place(frame) returns a SourceLine, or None if the frame does not run Python code
        self.place = cache(self._find_line)
        self._variable_at = cache(self._find_variable)
        self._type_name = cache(self._find_type_name)

    def stacks(self) -> Iterator[ThreadStack]:
        """Yield the stack of every Python thread that exists now.

        If the list of threads changes meanwhile, some may be missing.
        """
        offsets = self.offsets
        with suppress(OSError, struct.error):
            thread = self.field(self.interpreter, "interpreter.threads_head")
            for _ in range(MOST_THREADS):
                if not thread:
                    return
                start_ns = monotonic_ns()
                state = self.read(thread, offsets["thread.size"])
                frames = tuple(self._frames(word(state, offsets["thread.current_frame"])))
                tid = word(state, offsets["thread.native_thread_id"])
                yield ThreadStack(self.pid, tid, start_ns, monotonic_ns(), frames)
                thread = word(state, offsets["thread.next"])

    def _frames(self, frame: int) -> Iterator[RawFrame]:
        offsets, size = self.offsets, self.offsets["frame.size"]
        copy_offset = offsets["frame.tlbc_index"]
        window, start = b"", 0
        for _ in range(DEEPEST):
            if not frame:
                return
            if not start <= frame <= start + len(window) - size:
                start = frame & -_PAGE_BYTES
                window = self.read(start, frame + size - start)
            place = frame - start
            copy = struct.unpack_from("<i", window, place + copy_offset)[0] if copy_offset else 0
            # The low bits of the code object's address are flags for reference counting.
            code = word(window, place + offsets["frame.executable"]) & ~7
            yield RawFrame(code, word(window, place + offsets["frame.instr_ptr"]), copy)
            frame = word(window, place + offsets["frame.previous"])

    def _find_line(self, frame: RawFrame) -> SourceLine | None:
        """Return the source line that *frame* executes; None if the frame does not run
        Python code.
        """
        offsets, code = self.offsets, frame.code
        with suppress(*READ_ERRORS):
            if not code or self.field(code, "object.ob_type") != self._code_type:
                return None
            start = code + offsets["code.co_code_adaptive"]
            if offsets["code.co_tlbc"]:
                # + 1: the array of copies begins with its length
                start = self.pointer(self.field(code, "code.co_tlbc") + 8 * (frame.copy + 1))
            first = self.integer(code + offsets["code.firstlineno"])
            table = self.field(code, "code.linetable")
            size_bytes = min(self.field(table, "bytes.ob_size"), _LONGEST_LINES)
            table_bytes = self.read(table + offsets["bytes.ob_sval"], size_bytes)
            line = _line(table_bytes, first, frame.instruction - start)
            file, function = self.field(code, "code.filename"), self.field(code, "code.qualname")
            return SourceLine(self._text(file), line, self._text(function))
        return None

    def owner(self, mutex: int) -> str:
        """Return the owner of the mutex at an address: the name of an object's type, a file as
        [FILE], or NO_OWNER.

        It is the name of an object's type if the mutex is the one in every object's header on a
        free-threaded build, or the field right after an object's header, as in a threading lock. It
        is [FILE] if the mutex is a global variable of that file.
        """
        candidates = [mutex - self.offsets["object.size"]]
        if self.free_threaded:
            candidates.insert(0, mutex + _MUTEX_BEFORE_TYPE - self.offsets["object.ob_type"])
        for candidate in candidates:
            with suppress(OSError, struct.error):
                if name := self._type_name(self.field(candidate, "object.ob_type")):
                    return name
        return self._variable_at(mutex)

    def _find_variable(self, address: int) -> str:
        """Return the program or library, as [NAME], whose global variable is at *address*; NO_OWNER
        if there is none.

        Variables without an initial value lie in a mapping without a name, right after the file's
        own mappings.
        """
        file, end = "", 0
        for mapping in mappings(self.pid):
            file = mapping.name or (file if mapping.start == end else "")
            end = mapping.end
            if mapping.start <= address < end:
                return f"[{file.rpartition('/')[2]}]" if file.startswith("/") else NO_OWNER
        return NO_OWNER

    def _find_type_name(self, kind: int) -> str:
        """Return the name of the type at address *kind*; "" if there is no type. Raises OSError and
        struct.error.
        """
        meta = kind
        for _ in range(4):  # a type is an instance of `type`, or of a metaclass that is one
            meta = self.field(meta, "object.ob_type")
            if meta == self._type:
                name = _NAME.match(self.read(self.field(kind, "type.tp_name"), 128))
                return name[0][:-1].decode() if name else ""
        return ""

    def _text(self, address: int) -> str:
        """Return the Python string at *address* in the process's memory.

        ASCII text follows a short header. Other text has one, two or four bytes per character after
        a longer header.
        """
        # after the bits for interning: bytes per character (3 bits), is compact (1), is ASCII (1)
        state = self.field(address, "str.state") >> (8 if self.free_threaded else 2)
        kind, is_ascii, length = state & 7, state >> 4 & 1, self.field(address, "str.length")
        if kind not in _ENCODINGS or length > _LONGEST_TEXT:
            raise ValueError("not a str, or longer than any name")
        start = address + self.offsets["str.asciiobject_size"] + (0 if is_ascii else 16)
        return self.read(start, length * kind).decode(_ENCODINGS[kind])


def _line(table: bytes, first: int, offset: int) -> int:
    """Return the source line number of the instruction at *offset* in a code object; 0 if it has no
    line number.

    table, first: co_linetable and co_firstlineno of the code object
    """
    if not 0 <= offset < _LONGEST_LINES:
        raise ValueError("the instruction is outside of this code object")
    # a code object of this Python with the other table, so that this Python decodes it
    code = _line.__code__.replace(
        co_linetable=table, co_firstlineno=first, co_code=bytes(offset + 2)
    )
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), 0)
