"""Read the GIL's state out of the memory of a running CPython 3.14: the process runs nothing and is not stopped.

CPython keeps a table of offsets for debuggers at the beginning of its section .PyRuntime. Linux and 64 bits only.
Source: CPython 3.14, Include/internal/pycore_debug_offsets.h (_Py_DebugOffsets) and pycore_gil.h; elf(5).
"""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

SECTION = b".PyRuntime"
COOKIE = b"xdebugpy"
VERSION = 0x030E  # of another minor version the table may be another
ELF_SHARED, LOADED = 3, 1
_HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_TABLE = struct.Struct("<8s17Q")  # cookie, version, free_threaded, then offsets; those used are named below
_INTERPRETERS_HEAD, _CEVAL_GIL, _GIL_ENABLED = 5, 15, 17
_PYTHON = re.compile(r"(/\S*/(?:lib)?python3[^/]*)$")


def gil_in_memory(pid: int) -> bool | None:
    """Whether the GIL of process *pid* is on; None if it is not a CPython 3.14, or its memory may not be read."""
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for address in _runtimes(pid):
                table = _TABLE.unpack(os.pread(memory.fileno(), _TABLE.size, address))
                if table[0] == COOKIE and table[1] >> 16 == VERSION:
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


def _runtimes(pid: int) -> Iterator[int]:
    """Where the section of an interpreter is in the memory of *pid*: of its executable or its libpython."""
    bases: dict[str, int] = {}
    for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
        path = _PYTHON.search(line)
        if path:
            bases.setdefault(path[1], int(line.partition("-")[0], 16))
    for name, base in bases.items():
        address = _section_address(Path(f"/proc/{pid}/root{name}"), base)
        if address:
            yield address


def _section_address(path: Path, base: int) -> int:
    """Address of SECTION in memory, for a file whose first mapping begins at *base*; 0 where it has none."""
    with open(path, "rb") as file:
        header = _HEADER.unpack(file.read(_HEADER.size))
        if header[:3] != (b"\x7fELF", 2, 1):  # 64 bits, little-endian
            return 0
        segments = _entries(file.fileno(), _SEGMENT, header[7], header[12])
        sections = _entries(file.fileno(), _SECTION, header[8], header[14])
        names = os.pread(file.fileno(), sections[header[15]][5], sections[header[15]][4])
    for section in sections:
        if names[section[0] : names.index(b"\0", section[0])] == SECTION:
            first = min(segment[3] for segment in segments if segment[0] == LOADED)
            return int(section[3]) + (base - first if header[3] == ELF_SHARED else 0)
    return 0


def _entries(file: int, entry: struct.Struct, offset: int, count: int) -> list[tuple[int, ...]]:
    return list(entry.iter_unpack(os.pread(file, entry.size * count, offset)))
