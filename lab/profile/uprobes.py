"""Probe functions of running programs and sample their CPU time, with BPF on Linux 6.6 or later.

The kernel runs a small BPF program at each hit of a probe. The program writes process, thread, time
and one register to a ring buffer, and this module reads the ring buffer. File descriptors of this
process own the probes, so the kernel removes the probes however this process ends. A probe is hit
by every process that has mapped the file; the pid in the hit says which process it was.
lab/profile/lock_watcher.py sets the probes and calls hits() in each of its rounds, because hits are
lost while the ring buffer is full. On other hosts this runs in the worker (lab/hosts), so it needs
the standard library and gilscope alone. Only one thread at a time may use a Probes.
Source: bpf(2), bpf-helpers(7), Linux 6.6 include/uapi/linux/bpf.h (BPF_TRACE_UPROBE_MULTI),
    Documentation/bpf (ringbuf.rst, instruction-set.rst), include/uapi/linux/perf_event.h.
"""

import ctypes
import mmap
import os
import platform
import struct
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple

from lab.machine.host import usable_cpus

RING_BYTES = 1 << 23  # room for about 200 000 hits
# no divisor of the kernel timer's frequency, so that samples do not stay in step with the timer
CLOCK_HZ = 499
# name of CPU time samples, CLOCK_HZ per second of CPU time; the value is the instruction's address
CLOCK = "clock"


class _Architecture(NamedTuple):
    """System call numbers of a CPU architecture, and offsets in its struct pt_regs.

    first_argument, instruction: offsets of the first argument and of the instruction's address
    """

    bpf: int
    perf_event_open: int
    first_argument: int
    instruction: int


MACHINES = {
    "x86_64": _Architecture(bpf=321, perf_event_open=298, first_argument=112, instruction=128),
    "aarch64": _Architecture(bpf=280, perf_event_open=241, first_argument=0, instruction=256),
}
# commands of bpf(2): BPF_MAP_CREATE, BPF_PROG_LOAD, BPF_LINK_CREATE
_MAP_CREATE, _PROG_LOAD, _LINK_CREATE = 0, 5, 28
# kinds of maps, and a flag: BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_RINGBUF, BPF_F_MMAPABLE
_ARRAY, _RING, _MAPPABLE = 2, 27, 1 << 10
# kinds of programs, and of attachment: BPF_PROG_TYPE_KPROBE, _PERF_EVENT; BPF_TRACE_UPROBE_MULTI
_KPROBE, _PERF_EVENT, _UPROBE_MULTI = 2, 7, 48
# ioctl: PERF_EVENT_IOC_SET_BPF, PERF_EVENT_IOC_ENABLE
_SET_BPF, _ENABLE = 0x40042408, 0x2400
# PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, bit `freq` of perf_event_attr, PERF_FLAG_FD_CLOEXEC
_SOFTWARE, _CPU_CLOCK, _FREQUENCY, _CLOSE_ON_EXEC = 1, 0, 1 << 10, 8
# a position in the ring; the head that the kernel puts before each record: length and offset; and
# the record that _PROGRAM writes: tid, pid, time in ns, cookie, value
_WORD, _HEAD, _HIT = struct.Struct("<Q"), struct.Struct("<II"), struct.Struct("<IIQQQ")
# bit in the length of a record that is still being written: BPF_RINGBUF_BUSY_BIT
_UNFINISHED = 1 << 31
# an instruction, and the code of the one that loads 64 bits, whose upper half is in a second one
_INSTRUCTION, _WIDE = struct.Struct("<BBhI"), 0x18
# The BPF program that the kernel runs at each hit of a probe. It fills a record (_HIT) in on its
# stack, and copies it to the ring buffer. If there is no room, it counts the hit as lost. A pid is
# valid in this process's PID namespace; it is 0 for a process outside this namespace.
# A line has the code, target, source, offset and constant of an instruction, and what it does. r1
# to r4 are the arguments of a helper and r0 is its result; it keeps r6; r10 is the stack's end.
_PROGRAM = """\
0xBF 6  1  0          0         r6 = r1, the context of the hit
0x18 1  0  0          {device}  r1 = device of the PID namespace
0x18 2  0  0          {inode}   r2 = inode of the PID namespace
0xBF 3  10 0          0         r3 = r10
0x07 3  0  0          -32       r3 -= 32, where the record begins
0xB7 4  0  0          8         r4 = 8, the size of tid and pid
0x85 0  0  0          120       get_ns_current_pid_tgid() writes tid and pid
0x85 0  0  0          5         r0 = ktime_get_ns(), which is monotonic
0x7B 10 0  -24        0         time = r0
0xBF 1  6  0          0         r1 = r6
0x85 0  0  0          174       r0 = get_attach_cookie()
0x7B 10 0  -16        0         cookie = r0
0x79 1  6  {register} 0         r1 = the register in the context
0x7B 10 1  -8         0         value = r1
0x18 1  1  0          {ring}    r1 = the map of the ring (BPF_PSEUDO_MAP_FD)
0xBF 2  10 0          0         r2 = r10
0x07 2  0  0          -32       r2 -= 32, where the record begins
0xB7 3  0  0          32        r3 = 32, the size of the record
0xB7 4  0  0          0         r4 = 0, no flags
0x85 0  0  0          130       r0 = ringbuf_output()
0x15 0  0  4          0         if r0 == 0: jump over what counts lost hits
0x18 1  2  0          {lost}    r1 = the value in the map of lost hits (BPF_PSEUDO_MAP_VALUE)
0xB7 2  0  0          1         r2 = 1
0xDB 1  2  0          0         add r2 to the value, atomically
0xB7 0  0  0          0         r0 = 0
0x95 0  0  0          0         return
"""


class Uprobe(NamedTuple):
    """A probe (uprobe) on one function of a program or library.

    name: the name of its hits; file, offset: where the function's first byte is
    returns: whether the probe is hit when the function returns, rather than when it is entered
    """

    name: str
    file: Path
    offset: int
    returns: bool = False


class Hit(NamedTuple):
    """One hit of a probe: a thread has reached the probed function.

    value: the function's first argument, if the probe is on the function's entry
    """

    name: str
    pid: int
    tid: int
    time_ns: int
    value: int


class Probes(ExitStack):
    """A set of probes and a sampler of CPU time, active during the `with` block."""

    def __init__(self, probes: Sequence[Uprobe]) -> None:
        super().__init__()
        self._probes = probes
        # by cookie; samples of CPU time have none, which is 0
        self._names = [CLOCK, *(probe.name for probe in probes)]

    def __enter__(self) -> "Probes":
        """Set the probes. Raises OSError if the kernel does not permit this user to probe
        functions.
        """
        try:
            self._map()
            self._set_probes()
            self._set_clock()
        except BaseException:
            self.close()
            raise
        return self

    def hits(self) -> list[Hit]:
        """Return the calls of probed functions and the CPU time samples since the last hits(),
        oldest first.
        """
        (consumed,), (produced,) = map(_WORD.unpack_from, (self._consumed, self._produced))
        # the kernel maps the ring twice in a row, so data that wraps around is contiguous, too
        start = mmap.PAGESIZE + consumed % RING_BYTES
        data = self._produced[start : start + produced - consumed]
        hits, place = [], 0
        while place < len(data) and not _HEAD.unpack_from(data, place)[0] & _UNFINISHED:
            tid, pid, time_ns, cookie, value = _HIT.unpack_from(data, place + _HEAD.size)
            hits.append(Hit(self._names[cookie], pid, tid, time_ns, value))
            place += _HEAD.size + _HIT.size
        _WORD.pack_into(self._consumed, 0, consumed + place)
        return sorted(hits, key=lambda hit: hit.time_ns)

    def lost(self) -> int:
        """Return how many probe hits were lost because the ring buffer was full."""
        return int.from_bytes(self._lost_hits[:8], "little")

    def _keep(self, descriptor: int) -> int:
        self.callback(os.close, descriptor)
        return descriptor

    def _map(self) -> None:
        page = mmap.PAGESIZE
        self._ring = self._keep(_bpf(_MAP_CREATE, struct.pack("<IIII", _RING, 0, 0, RING_BYTES)))
        # pages of the ring: the position of this reader, that of the kernel, then the data twice
        self._consumed = self.enter_context(mmap.mmap(self._ring, page))
        produced = mmap.mmap(self._ring, page + 2 * RING_BYTES, prot=mmap.PROT_READ, offset=page)
        self._produced = self.enter_context(produced)
        self._lost = self._keep(
            _bpf(_MAP_CREATE, struct.pack("<IIIII", _ARRAY, 4, 8, 1, _MAPPABLE))
        )
        self._lost_hits = self.enter_context(mmap.mmap(self._lost, page, prot=mmap.PROT_READ))

    def _set_probes(self) -> None:
        """Set all probes of a file in one call, because the kernel removes separately set probes
        slowly.
        """
        program = self._program(_KPROBE, _UPROBE_MULTI, MACHINES[platform.machine()].first_argument)
        groups: dict[tuple[Path, bool], list[int]] = defaultdict(list)
        for number, probe in enumerate(self._probes, 1):
            groups[probe.file, probe.returns].append(number)
        for (file, returns), numbers in groups.items():
            path = ctypes.create_string_buffer(os.fsencode(file))
            array = ctypes.c_uint64 * len(numbers)
            offsets = array(*(self._probes[number - 1].offset for number in numbers))
            cookies = array(*numbers)
            at = ctypes.addressof
            places = (at(path), at(offsets), 0, at(cookies))
            how = (program, 0, _UPROBE_MULTI, 0, *places, len(numbers), int(returns), 0, 0)
            self._keep(_bpf(_LINK_CREATE, struct.pack("<4I4Q4I", *how)))

    def _set_clock(self) -> None:
        machine = MACHINES[platform.machine()]
        program = self._program(_PERF_EVENT, 0, machine.instruction)
        # 64: size of the structure
        how = (_SOFTWARE, 64, _CPU_CLOCK, CLOCK_HZ, 0, 0, _FREQUENCY)
        attributes = ctypes.create_string_buffer(struct.pack("<IIQQQQQ16x", *how))
        flags = ctypes.c_ulong(_CLOSE_ON_EXEC)
        for cpu in usable_cpus():
            # -1: of all processes on this CPU; without a group
            event = self._keep(_called(machine.perf_event_open, attributes, -1, cpu, -1, flags))
            ioctl(event, _SET_BPF, program)
            ioctl(event, _ENABLE, 0)

    def _program(self, kind: int, attach: int, register: int) -> int:
        namespace = os.stat("/proc/self/ns/pid")
        code = _assembled(
            _PROGRAM.format(
                device=namespace.st_dev,
                inode=namespace.st_ino,
                register=register,
                ring=self._ring,
                lost=self._lost,
            )
        )
        texts = [ctypes.create_string_buffer(text) for text in (code, b"MIT")]  # with the license
        what = (kind, len(code) // 8, *map(ctypes.addressof, texts))
        attributes = struct.pack("<IIQQIIQII16sII", *what, 0, 0, 0, 0, 0, b"gilscope", 0, attach)
        return self._keep(_bpf(_PROG_LOAD, attributes))


def _assembled(listing: str) -> bytes:
    """Return the instructions in *listing* as the kernel reads them."""
    code = b""
    for line in listing.splitlines():
        operation, target, source, offset, value = (int(word, 0) for word in line.split()[:5])
        registers = target | source << 4
        code += _INSTRUCTION.pack(operation, registers, offset, value & 0xFFFFFFFF)
        if operation == _WIDE:
            code += _INSTRUCTION.pack(0, 0, 0, value >> 32)
    return code


def _bpf(command: int, attributes: bytes) -> int:
    # 144 bytes are more than any call here uses; the kernel requires the rest to be 0
    whole = ctypes.create_string_buffer(attributes, 144)
    return _called(MACHINES[platform.machine()].bpf, command, whole, 144)


def _called(number: int, *arguments: object) -> int:
    """Make a system call and return its result. Raises OSError."""
    result = int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
