"""Find out from outside which Python a running process uses, and whether its GIL is on (see
docs/audit.md).

Version and build are read from the interpreter's file. The GIL of a default build is always on. For
the free-threaded build of CPython 3.14 and 3.15, the GIL's state is read from the process's memory,
which needs the right to trace the process: the same user, and Linux's ptrace_scope. No code runs
for this, and no process is stopped.

lab/user_service/service_child.py calls python_process() for each process of a service, and
lab/profile/frames.py derives FrameReader from PythonMemory. Both may run on other hosts, so this
module needs the standard library and gilscope alone. All addresses are of the other process.
CPython has a table of structure offsets for debuggers at the beginning of its variable _PyRuntime
(3.13 and later). This module works on 64-bit little-endian Linux only.
Source: elf(5); CPython 3.14 and 3.15, Include/internal/pycore_debug_offsets.h (_Py_DebugOffsets)
    and pycore_gil.h.
"""

import os
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from lab.machine.host import text_of

# Names and order are those of _Py_DebugOffsets after its cookie and version. Each field is a 64-bit
# offset or size, except free_threaded. They are read by position, so a missing name shifts
# the meaning of all that follow. Only the beginning of the table, to the last name here, is read.
_LAYOUT = {  # fields of each structure in CPython 3.14
    "": "free_threaded",
    "runtime": "size finalizing interpreters_head",
    "interpreter": "size id next threads_head threads_main gc modules sysdict builtins ceval_gil "
    "gil enabled locked holder code_object_generation tlbc_generation",
    "thread": "size prev next interp current_frame thread_id native_thread_id datastack_chunk "
    "status",
    "frame": "size previous executable instr_ptr localsplus owner stackpointer tlbc_index",
    "code": "size filename name qualname linetable firstlineno argcount names kinds "
    "co_code_adaptive co_tlbc",
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
_NEWER = {  # structures whose fields differ in CPython 3.15
    "thread": "size prev next interp current_frame base_frame last_profiled_frame "
    "last_profiled_frame_seq thread_id native_thread_id datastack_chunk status holds_gil "
    "gil_requested current_exception exc_state exc_value",
    "type": "size tp_name tp_repr tp_flags tp_basicsize tp_dictoffset ht_size ht_cached_keys",
}


def _fields(layout: Mapping[str, str]) -> list[str]:
    return [f"{group}.{field}" for group, fields in layout.items() for field in fields.split()]


_TABLES = {
    0x030E: _fields(_LAYOUT),
    0x030F: _fields(_LAYOUT | _NEWER),
}  # by minor version: 3.14, 3.15
# the versions in _TABLES, for messages and checks of callers
KNOWN = "3.14", "3.15"
# what reading may raise, because the other process changes or ends, or a file is no interpreter
READ_ERRORS = (OSError, ValueError, struct.error, IndexError)
# a line of /proc/PID/maps: start, end and file
_MAPPING = re.compile(
    r"^([0-9a-f]{1,16})-([0-9a-f]{1,16}) \S{4} [0-9a-f]+ \S+ [0-9]+ *(.*)", re.MULTILINE
)
# paths of mapped files that may hold an interpreter
_PYTHON = re.compile(r"/.*/(?:lib)?python3[^/]*")
# names of executables that are taken for a Python
_PROGRAM = re.compile(r"python3(\.[0-9]+)?t?")
# the variable that begins with the table, and the table's first 8 bytes
_RUNTIME = "_PyRuntime"
# variables with the types `type` and `code`, by which objects are recognised
TYPES = "PyType_Type", "PyCode_Type"
_COOKIE = b"xdebugpy"
_HEAD = struct.Struct("<8s2Q")  # cookie, version, free_threaded
# letters of pre-releases in PY_VERSION_HEX; final releases (0xF) have none
_LEVELS = {0xA: "a", 0xB: "b", 0xC: "rc"}
# Fields of the header by index: 7 and 12 are offset and number of the segments, 8 and 14 of the
# sections. Of a segment: 2 offset, 3 address, 5 size in the file. Of a section: 1 type, 4 offset,
# 5 size, 6 the section with its names.
_ELF_HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_LOADED = 1  # the type of segments that are mapped into memory
# types of sections: exported symbols, and all symbols unless the file was stripped
_SYMBOL_TABLES = (11, 2)
_MOST_BYTES = 1 << 26  # a longer table of an ELF file means that the file is no interpreter


class Symbol(NamedTuple):
    """A function or variable of an ELF file.

    address: its address in memory; offset: the offset of its first byte in the file
    head: the first 24 bytes of a variable's initial value (_HEAD)
    """

    address: int
    size_bytes: int
    offset: int
    head: bytes


def build_in_file(path: Path) -> str:
    """Return the version of the CPython interpreter in an ELF file, with the suffix t for a
    free-threaded build.

    Examples are 3.14.7 and 3.15.0rc2t. It is "" if the file is not a CPython, or if the interpreter
    is in a shared library instead. The version is the value of the variable Py_Version (3.11 and
    later), which has the form of PY_VERSION_HEX.
    """
    try:
        known = read_symbols(path, ("Py_Version", _RUNTIME))
        number = word(known["Py_Version"].head, 0)
        cookie, _, free_threaded = _HEAD.unpack(known[_RUNTIME].head)
    except (*READ_ERRORS, KeyError):
        return ""
    level = _LEVELS.get(number >> 4 & 15, "")
    preview = f"{level}{number & 15}" if level else ""
    build = "t" if cookie == _COOKIE and free_threaded == 1 else ""
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}{preview}{build}"


def read_symbols(path: Path, names: Collection[str], base: int | None = None) -> dict[str, Symbol]:
    """Return those symbols of an ELF file that are called *names*; {} if it is not a 64-bit ELF
    file.

    base: the address at which the file is mapped; None for the addresses that the file itself names
    Raises one of READ_ERRORS.
    """
    with open(path, "rb") as file:
        descriptor = file.fileno()
        header = _read(descriptor, 0, _ELF_HEADER.size)
        if header[:6] != b"\x7fELF\2\1":
            return {}
        fields = _ELF_HEADER.unpack(header)
        segments = _read_table(descriptor, _SEGMENT, fields[7], fields[12])
        loaded = [(row[2], row[3], row[5]) for row in segments if row[0] == _LOADED]
        bias = 0 if base is None else base - min(address for _, address, _ in loaded)
        found = {}
        wanted = {name.encode() for name in names}
        for name, address, size_bytes in _named(descriptor, fields, wanted):
            for offset, start, length in loaded:
                if start <= address < start + length:
                    at = offset + address - start
                    head = _read(descriptor, at, _HEAD.size)
                    found[name.decode()] = Symbol(address + bias, size_bytes, at, head)
            if len(found) == len(names):
                break
        return found


def _named(
    descriptor: int, header: tuple[int, ...], names: Collection[bytes]
) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, address and size of each symbol of an ELF file that is called one of *names*."""
    sections = _read_table(descriptor, _SECTION, header[8], header[14])
    longest = max(map(len, names)) + 1  # names in the file may be longer
    for section in sections:
        if section[1] in _SYMBOL_TABLES:
            strings = sections[section[6]]
            texts = _read(descriptor, strings[4], strings[5])
            symbols = _read(descriptor, section[4], section[5])
            for name, _, _, _, address, size_bytes in _SYMBOL.iter_unpack(symbols):
                text = texts[name : name + longest].partition(b"\0")[0]
                if text in names:
                    yield text, address, size_bytes


def _read_table(
    descriptor: int, entry: struct.Struct, offset: int, count: int
) -> list[tuple[int, ...]]:
    return list(entry.iter_unpack(_read(descriptor, offset, entry.size * count)))


def _read(descriptor: int, offset: int, size_bytes: int) -> bytes:
    if size_bytes > _MOST_BYTES or offset >= 1 << 63:
        raise ValueError("the table is longer than in any interpreter")
    return os.pread(descriptor, size_bytes, offset)


class NotReadable(Exception):
    """The error that a process does not run CPython 3.14 or 3.15, or that its memory may not be
    read.
    """


class PythonMemory(ExitStack):
    """The memory of a running CPython process, which can be read until close().

    file: the file of the interpreter; symbols: functions and variables of the interpreter by name
    offsets: the offsets by structure and field
    """

    def __init__(self, pid: int, names: Collection[str] = ()) -> None:
        """Open the memory of process *pid*. Raises NotReadable.

        names: the wanted symbols, besides _PyRuntime and those of TYPES
        """
        super().__init__()
        self.pid = pid
        try:
            memory = open(f"/proc/{pid}/mem", "rb", buffering=0)  # noqa: SIM115 - close() closes it
            self._memory = self.enter_context(memory)
            self.file, self.symbols, self.offsets = self._find_table((_RUNTIME, *TYPES, *names))
        except READ_ERRORS as error:
            self.close()
            raise NotReadable(f"process {pid}: {error}") from error
        self.free_threaded = bool(self.offsets[".free_threaded"])

    def _find_table(self, names: Collection[str]) -> tuple[Path, dict[str, Symbol], dict[str, int]]:
        for path, base in _interpreter_files(self.pid).items():
            known = read_symbols(path, names, base)
            if not {_RUNTIME, *TYPES} <= known.keys():
                continue
            runtime = known[_RUNTIME].address
            cookie, version, _ = _HEAD.unpack(self.read(runtime, _HEAD.size))
            fields = _TABLES.get(version >> 16)
            if cookie == _COOKIE and fields:
                # after cookie and version, of 8 bytes each
                data = self.read(runtime + 16, 8 * len(fields))
                offsets = struct.unpack(f"<{len(fields)}Q", data)
                return path, known, dict(zip(fields, offsets, strict=True))
        raise ValueError(f"no CPython {' or '.join(KNOWN)}")

    @property
    def interpreter(self) -> int:
        """Return the address of the process's newest interpreter state. Most processes have only
        one.
        """
        return self.field(self.symbols[_RUNTIME].address, "runtime.interpreters_head")

    def read(self, address: int, size_bytes: int) -> bytes:
        """Return *size_bytes* bytes of the process's memory at *address*. Raises OSError."""
        try:
            return os.pread(self._memory.fileno(), size_bytes, address)
        except OverflowError as error:  # not an address
            raise OSError(str(error)) from error

    def pointer(self, address: int) -> int:
        """Return the 64-bit integer at *address* in the process's memory. Raises OSError and
        struct.error.
        """
        return word(self.read(address, 8), 0)

    def field(self, address: int, name: str) -> int:
        """Return the 64-bit field *name* of the structure at *address*. Raises OSError and
        struct.error.
        """
        return self.pointer(address + self.offsets[name])

    def integer(self, address: int) -> int:
        """Return the C int at *address* in the process's memory. Raises OSError and
        struct.error.
        """
        return int(struct.unpack("<i", self.read(address, 4))[0])


def word(data: bytes, offset: int) -> int:
    """Return the 64-bit integer at byte *offset* in *data*."""
    return int(struct.unpack_from("<Q", data, offset)[0])


class PythonProcess(NamedTuple):
    """A process that runs Python.

    label: version of its interpreter, such as 3.14.7t; gil_enabled: whether its GIL is on, None if
        unknown
    """

    label: str
    gil_enabled: bool | None


def python_process(pid: int) -> PythonProcess | None:
    """Return the Python version and GIL state of process *pid*; None if it is not Python or has
    ended. Raises PermissionError if its program may not be known.

    The executable is sufficient if the process's mappings may not be read, unless the interpreter
    is in a shared library.
    """
    program = Path(f"/proc/{pid}/exe")
    try:
        is_named = _PROGRAM.fullmatch(os.readlink(program).rpartition("/")[2])
    except (FileNotFoundError, ProcessLookupError):
        return None
    for file in (program, *_interpreter_files(pid)) if is_named else ():
        if label := build_in_file(file):
            # a default build (no t in its label) always has its GIL on
            return PythonProcess(label, read_gil_state(pid) if label.endswith("t") else True)
    return None


def read_gil_state(pid: int) -> bool | None:
    """Return whether process *pid*, which runs a free-threaded build, has its GIL on; None if it is
    not CPython 3.14 or 3.15, or may not be inspected.
    """
    try:
        with PythonMemory(pid) as memory:
            gil = memory.field(memory.interpreter, "interpreter.ceval_gil")
            # in spite of its name an offset in the structure of the GIL
            return memory.integer(gil + memory.offsets["interpreter.enabled"]) != 0
    except (NotReadable, *READ_ERRORS):
        return None


def _interpreter_files(pid: int) -> dict[Path, int]:
    """Return the executables and libpython libraries mapped by process *pid*, with
    their addresses.
    """
    bases: dict[Path, int] = {}
    for mapping in mappings(pid):
        if _PYTHON.fullmatch(mapping.name):
            bases.setdefault(Path(f"/proc/{pid}/root{mapping.name}"), mapping.start)
    return bases


class Region(NamedTuple):
    """A memory mapping of a process. name: of its file"""

    start: int
    end: int
    name: str


def mappings(pid: int) -> list[Region]:
    """Return the memory mappings of process *pid*; none if they may not be read. Source:
    proc_pid_maps(5).
    """
    lines = _MAPPING.findall(text_of(f"proc/{pid}/maps") or "")
    return [Region(int(start, 16), int(end, 16), name) for start, end, name in lines]
