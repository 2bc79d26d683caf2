"""Read the memory of a running CPython 3.14 or 3.15 process, without stopping the process or running code in it.

CPython has a table of structure offsets for debuggers at the beginning of its section .PyRuntime. This module works on
64-bit Linux only.
Source: CPython 3.14 and 3.15, Include/internal/pycore_debug_offsets.h (_Py_DebugOffsets) and pycore_gil.h; elf(5).
"""

import os
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from lab.gil.elf import COOKIE, SECTION, PythonBuild, Symbol, build_in_file, load_bias, sections, symbols

_LAYOUT = {  # fields of each structure in CPython 3.14
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
_NEWER = {  # structures whose fields differ in CPython 3.15
    "thread": "size prev next interp current_frame base_frame last_profiled_frame last_profiled_frame_seq thread_id "
    "native_thread_id datastack_chunk status holds_gil gil_requested current_exception exc_state exc_value",
    "type": "size tp_name tp_repr tp_flags tp_basicsize tp_dictoffset ht_size ht_cached_keys",
}


def _fields(layout: Mapping[str, str]) -> list[str]:
    return [f"{group}.{field}" for group, fields in layout.items() for field in fields.split()]


_TABLES = {0x030E: _fields(_LAYOUT), 0x030F: _fields(_LAYOUT | _NEWER)}  # by minor version: 3.14, 3.15
KNOWN = "3.14", "3.15"
_HEAD = struct.Struct("<8sQ")  # cookie, version
_PYTHON = re.compile(r"/.*/(?:lib)?python3[^/]*")
READ_ERRORS = (OSError, ValueError, struct.error)
_BUILDS: dict[tuple[int, int, int], PythonBuild | None] = {}


class NotReadable(Exception):
    """The error that a process does not run CPython 3.14 or 3.15, or that its memory may not be read."""


class PythonMemory:
    """The memory of a running CPython process.

    file: the file of the interpreter; bias: the difference between addresses in memory and in this file
    runtime: the address of the table of offsets; offsets: the offsets by structure and field
    """

    def __init__(self, pid: int) -> None:
        """Open the memory of process *pid*. Raises NotReadable."""
        self.pid = pid
        with ExitStack() as stack:
            try:
                self._memory = stack.enter_context(open(f"/proc/{pid}/mem", "rb", buffering=0))
                self.file, self.bias, self.runtime, self.offsets = self._find_table()
            except READ_ERRORS as error:
                raise NotReadable(f"process {pid}: {error}") from error
            stack.pop_all()
        self.free_threaded = bool(self.offsets[".free_threaded"])

    def close(self) -> None:
        """Close the file through which the process's memory is read."""
        self._memory.close()

    def _find_table(self) -> tuple[Path, int, int, dict[str, int]]:
        for path, base in _interpreter_files(self.pid).items():
            with open(path, "rb") as file:
                section, bias = sections(file.fileno()).get(SECTION), load_bias(file.fileno(), base)
            if section is None:
                continue
            runtime = section.address + bias
            cookie, version = _HEAD.unpack(self.read(runtime, _HEAD.size))
            fields = _TABLES.get(version >> 16)
            if cookie == COOKIE and fields:
                offsets = struct.unpack(f"<{len(fields)}Q", self.read(runtime + _HEAD.size, 8 * len(fields)))
                return path, bias, runtime, dict(zip(fields, offsets, strict=True))
        raise ValueError(f"no CPython {' or '.join(KNOWN)}")

    @property
    def interpreter(self) -> int:
        """Return the address of the process's newest interpreter state. Most processes have only one."""
        return self.field(self.runtime, "runtime.interpreters_head")

    def gil_enabled(self) -> bool:
        """Return whether the process's GIL is on. Raises READ_ERRORS."""
        if not self.free_threaded:
            return True
        gil = self.field(self.interpreter, "interpreter.ceval_gil")
        return self.integer(gil + self.offsets["interpreter.enabled"]) != 0

    def symbols(self, names: Collection[str]) -> dict[str, Symbol]:
        """Return the symbols of the interpreter's file whose names are in *names*. Raises one of READ_ERRORS."""
        with open(self.file, "rb") as file:
            return symbols(file.fileno(), names)

    def read(self, address: int, size_bytes: int) -> bytes:
        """Return *size_bytes* bytes of the process's memory at *address*. Raises OSError."""
        try:
            return os.pread(self._memory.fileno(), size_bytes, address)
        except OverflowError as error:  # not an address
            raise OSError(str(error)) from error

    def pointer(self, address: int) -> int:
        """Return the 64-bit integer at *address* in the process's memory. Raises OSError and struct.error."""
        return word(self.read(address, 8), 0)

    def field(self, address: int, name: str) -> int:
        """Return the 64-bit field *name* of the structure at *address*. Raises OSError and struct.error."""
        return self.pointer(address + self.offsets[name])

    def integer(self, address: int) -> int:
        """Return the C int at *address* in the process's memory. Raises OSError and struct.error."""
        return int(struct.unpack("<i", self.read(address, 4))[0])


def word(data: bytes, offset: int) -> int:
    """Return the 64-bit integer at byte *offset* in *data*."""
    return int(struct.unpack_from("<Q", data, offset)[0])


def read_gil_state(pid: int) -> bool | None:
    """Return whether process *pid* has its GIL on; None if it is not CPython 3.14 or 3.15, or may not be inspected."""
    try:
        with closing(PythonMemory(pid)) as memory:
            return memory.gil_enabled()
    except (NotReadable, *READ_ERRORS):
        return None


def read_build(pid: int, executable: Path) -> PythonBuild | None:
    """Return the CPython version and build of process *pid*, read from the interpreter's file or shared library.

    executable: the file that the process runs. It is sufficient if the process's mappings may not be read, unless the
    interpreter is in a shared library.
    """
    try:
        paths = [executable, *_interpreter_files(pid)]
    except OSError:
        paths = [executable]
    return next(filter(None, map(_known_build, paths)), None)


def _known_build(path: Path) -> PythonBuild | None:
    """Return an interpreter file's CPython version and build. The result is cached because workers share the file."""
    try:
        status = path.stat()
    except OSError:
        return None
    key = (status.st_dev, status.st_ino, status.st_mtime_ns)
    if key not in _BUILDS:
        _BUILDS[key] = build_in_file(path)
    return _BUILDS[key]


def _interpreter_files(pid: int) -> dict[Path, int]:
    """Return the executables and libpython libraries mapped by process *pid*, with their addresses. Raises OSError."""
    bases: dict[Path, int] = {}
    for start, _, name in mappings(pid):
        if _PYTHON.fullmatch(name):
            bases.setdefault(Path(f"/proc/{pid}/root{name}"), start)
    return bases


def mappings(pid: int) -> Iterator[tuple[int, int, str]]:
    """Yield each memory mapping of process *pid*: start, end, and file name ("" without a file). Raises OSError.

    Source: proc_pid_maps(5).
    """
    for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
        span, _, _, _, _, *name = line.split(maxsplit=5)
        start, _, end = span.partition("-")
        yield int(start, 16), int(end, 16), name[0] if name else ""
