"""Read the version and build of a CPython interpreter from its ELF file (64-bit little-endian), without executing it.

The version is the value of the symbol Py_Version (3.11 and later). The build (default or free-threaded) is in the table
for debuggers at the beginning of the section .PyRuntime (3.13 and later).
Source: elf(5); CPython 3.14, pycore_debug_offsets.h.
"""

import os
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

SECTION = b".PyRuntime"
COOKIE = b"xdebugpy"
ELF_SHARED, LOADED = 3, 1
_MOST_BYTES = 1 << 26  # a longer table means that the file is no interpreter
_HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_TABLE = struct.Struct("<8s2Q")  # cookie, version, free_threaded
_LEVELS = {0xA: "a", 0xB: "b", 0xC: "rc"}


@dataclass(frozen=True, kw_only=True)
class ElfSection:
    """A section of an ELF file: its offset in the file and its address in memory."""

    address: int
    offset: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A function or variable of an ELF file: its address in memory, and the offset of its first byte in the file."""

    address: int
    size_bytes: int
    offset: int


@dataclass(frozen=True, kw_only=True)
class PythonBuild:
    """The version and build (default or free-threaded) of a CPython interpreter.

    version: such as 3.14.7 or 3.15.0rc2
    """

    version: str
    free_threaded: bool

    @property
    def label(self) -> str:
        """The CPython version, with the suffix t for a free-threaded build: 3.14.7 or 3.14.7t."""
        return self.version + "t" * self.free_threaded


def build_in_file(path: Path) -> PythonBuild | None:
    """Return the version and build of the CPython interpreter in an ELF file.

    It is None if the file is not a CPython, or if the interpreter is in a shared library instead.
    """
    try:
        with open(path, "rb") as file:
            descriptor = file.fileno()
            version = symbols(descriptor, ["Py_Version"]).get("Py_Version")
            if version is None:
                return None
            (number,) = struct.unpack("<Q", _read(descriptor, version.offset, 8))
            runtime = sections(descriptor).get(SECTION)
            data = _read(descriptor, runtime.offset, _TABLE.size) if runtime else b""
    except (OSError, ValueError, struct.error):
        return None
    cookie, _, free_threaded = _TABLE.unpack(data) if len(data) == _TABLE.size else (b"", 0, 0)
    return PythonBuild(version=version_text(number), free_threaded=cookie == COOKIE and free_threaded == 1)


def version_text(number: int) -> str:
    """Format the value of PY_VERSION_HEX as a version string, such as 3.14.7 or 3.15.0rc2."""
    release = f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}"
    level = _LEVELS.get(number >> 4 & 15, "")
    return f"{release}{level}{number & 15}" if level else release


def sections(descriptor: int) -> dict[bytes, ElfSection]:
    """Return a dict of the sections of an ELF file by name; {} if the file is not a 64-bit ELF file."""
    header = _read_header(descriptor)
    if header is None:
        return {}
    rows = _read_table(descriptor, _SECTION, header[8], header[14])
    names = _read(descriptor, rows[header[15]][4], rows[header[15]][5]) if header[15] < len(rows) else b""
    return {
        names[row[0] :].partition(b"\0")[0]: ElfSection(address=row[3], offset=row[4], size_bytes=row[5])
        for row in rows
    }


def symbols(descriptor: int, names: Collection[str]) -> dict[str, Symbol]:
    """Return the symbols called *names* that an ELF file defines.

    The full symbol table is used, or the exported symbols if the file was stripped.
    """
    table = sections(descriptor)
    for rows, strings in ((b".symtab", b".strtab"), (b".dynsym", b".dynstr")):
        if rows in table and strings in table:
            return dict(
                _find_symbols(descriptor, table, table[rows], table[strings], {name.encode() for name in names})
            )
    return {}


def _find_symbols(
    descriptor: int, table: dict[bytes, ElfSection], rows: ElfSection, strings: ElfSection, names: Collection[bytes]
) -> Iterator[tuple[str, Symbol]]:
    texts = _read(descriptor, strings.offset, strings.size_bytes)
    longest = max(map(len, names)) + 1  # a name in the file may be of any length, so only this part is compared
    for name, _, _, _, address, size_bytes in _SYMBOL.iter_unpack(_read(descriptor, rows.offset, rows.size_bytes)):
        text = texts[name : name + longest].partition(b"\0")[0]
        if text in names and (offset := _file_offset(table, address)):
            yield text.decode(), Symbol(address=address, size_bytes=size_bytes, offset=offset)


def load_bias(descriptor: int, base: int) -> int:
    """Return the load bias of an ELF file mapped at *base*: addresses in memory minus addresses in the file."""
    header = _read_header(descriptor)
    if header is None or header[3] != ELF_SHARED:  # the file is loaded at its own addresses
        return 0
    return base - min(row[3] for row in _read_table(descriptor, _SEGMENT, header[7], header[12]) if row[0] == LOADED)


def _file_offset(table: dict[bytes, ElfSection], address: int) -> int:
    """Return the offset of the byte at *address* in the ELF file; 0 if no section contains the address."""
    for section in table.values():
        if section.address and section.address <= address < section.address + section.size_bytes:
            return section.offset + address - section.address
    return 0


def _read_header(descriptor: int) -> tuple[int, ...] | None:
    data = os.pread(descriptor, _HEADER.size, 0)
    if len(data) < _HEADER.size:
        return None
    header = _HEADER.unpack(data)
    return header if header[:3] == (b"\x7fELF", 2, 1) else None


def _read_table(descriptor: int, entry: struct.Struct, offset: int, count: int) -> list[tuple[int, ...]]:
    return list(entry.iter_unpack(_read(descriptor, offset, entry.size * count)))


def _read(descriptor: int, offset: int, size_bytes: int) -> bytes:
    if size_bytes > _MOST_BYTES or offset >= 1 << 63:
        raise ValueError("the table is longer than in any interpreter")
    return os.pread(descriptor, size_bytes, offset)
