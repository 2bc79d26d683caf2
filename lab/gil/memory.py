"""Read the GIL's state out of the memory of a running CPython 3.14 or 3.15: it runs nothing and is not stopped.

CPython keeps a table of offsets for debuggers at the beginning of its section .PyRuntime. Linux and 64 bits only.
Source: CPython 3.14 and 3.15, Include/internal/pycore_debug_offsets.h (_Py_DebugOffsets) and pycore_gil.h; elf(5).
"""

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.gil.elf import COOKIE, SECTION, Build, build_in_file, first_address, is_movable, sections

VERSIONS = (0x030E, 0x030F)  # of another minor version the table may be another
_TABLE = struct.Struct("<8s17Q")  # cookie, version, free_threaded, then offsets; those used are named below
_INTERPRETERS_HEAD, _CEVAL_GIL, _GIL_ENABLED = 5, 15, 17
_PYTHON = re.compile(r"(/\S*/(?:lib)?python3[^/]*)$")


def gil_in_memory(pid: int) -> bool | None:
    """Whether the GIL of process *pid* is on; None if that is not a CPython 3.14 or 3.15 or may not be read."""
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for address in (interpreter.runtime for interpreter in interpreters(pid)):
                table = _TABLE.unpack(os.pread(memory.fileno(), _TABLE.size, address))
                if table[0] == COOKIE and table[1] >> 16 in VERSIONS:
                    return _enabled(memory.fileno(), address, table) if table[2] else True
    except (OSError, ValueError, struct.error):
        return None
    return None


def _enabled(memory: int, runtime: int, table: tuple[int, ...]) -> bool:
    interpreter = _pointer(memory, runtime + table[_INTERPRETERS_HEAD])
    gil = _pointer(memory, interpreter + table[_CEVAL_GIL])
    (enabled,) = struct.unpack("<i", os.pread(memory, 4, gil + table[_GIL_ENABLED]))
    return bool(enabled)


def _pointer(memory: int, address: int) -> int:
    (value,) = struct.unpack("<Q", os.pread(memory, 8, address))
    return int(value)


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A file with the section of an interpreter, as a process has mapped it.

    runtime: where the section is in memory. bias: what is added to an address of the file
    """

    file: Path
    runtime: int
    bias: int


def interpreters(pid: int) -> Iterator[Interpreter]:
    """Those that *pid* has mapped: its executable or its libpython. Raises OSError where that may not be read."""
    for path, base in _files(pid).items():
        with open(path, "rb") as file:
            section = sections(file.fileno()).get(SECTION)
            bias = base - first_address(file.fileno()) if is_movable(file.fileno()) else 0
        if section is not None:
            yield Interpreter(file=path, runtime=section.address + bias, bias=bias)


def build_of(pid: int, executable: Path) -> Build | None:
    """What the CPython that *pid* runs says of itself in its file or its library's; None if that is not known.

    executable: of *pid*. It is enough where its memory may not be looked at, unless it has its library beside it.
    """
    try:
        paths = [executable, *_files(pid)]
    except OSError:
        paths = [executable]
    return next(filter(None, map(build_in_file, paths)), None)


def _files(pid: int) -> dict[Path, int]:
    """The files of an interpreter that *pid* has mapped, and where each begins in memory."""
    bases: dict[Path, int] = {}
    for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
        path = _PYTHON.search(line)
        if path:
            bases.setdefault(Path(f"/proc/{pid}/root{path[1]}"), int(line.partition("-")[0], 16))
    return bases
