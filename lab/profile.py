"""Where a service spends its CPU time and what its threads stop for: `--profile perf`, by linux-perf.

Two things are sampled with their call-graphs: CPU time (the event cycles, or cpu-clock where there is no counter), and
context switches, one in SWITCH_PERIOD of each thread. Most of what a contended lock costs is sleep, and only the
second shows that. Call-graphs are unwound from a copy of the top of each stack: CPython is built without frame
pointers unless told to, so that perf's cheaper way ends in noise. Python functions are not named; CPython can do that
(`-X perf_jit`, 3.13 or later), at a price in every call, so measured children do not use it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from core.errors import GilscopeError

FREQUENCY_HZ = 499  # not a divisor of the timer's, so that the two do not beat
SWITCH_PERIOD = 101
SWITCHES = "switches"
STACK_BYTES = 4096
LARGEST_FILE = "128M"  # some 30 000 samples
SMALL_SHARE = 0.01
STOP_DEADLINE_S = 30.0
PROBE_DEADLINE_S = 20.0
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
INSTALL = "apt-get install linux-perf (Debian), linux-tools-$(uname -r) (Ubuntu), dnf install perf (Fedora)"

_HEADER = re.compile(r"^\s*(\d+)\s+(\S+):\s*$")
_FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \(([^()]*(?:\([^()]*\))?)\)$")
_KERNEL = re.compile(r"^\[(?!unknown\])")  # [kernel.kallsyms], [vdso], a module such as [nf_tables]
_SUFFIX = re.compile(r"(@@?[A-Z]+_[\d.]+|\.(isra|part|constprop|cold|lto_priv|llvm)(\.\d+)?|\[k\])+$")
LOCKS = {
    "the GIL": re.compile(r"^(take_gil|drop_gil(_impl)?|_?PyEval_(Acquire|Release)Lock)$"),
    "a stop of all threads": re.compile(r"^(stop_the_world|start_the_world|_PyEval_(Stop|Start)TheWorld\w*)$"),
    "a critical section": re.compile(r"^_?PyCriticalSection2?_\w+$"),
    "a threading lock": re.compile(r"^(lock_PyThread_\w+|PyThread_(acquire|release)_lock\w*|acquire_timed|rlock_\w+)$"),
    "a PyMutex": re.compile(r"^_?Py(Mutex|RawMutex|RWMutex|RecursiveMutex|ParkingLot|Semaphore|SeqLock)_\w+$"),
    "a kernel lock": re.compile(r"^(native_queued_spin_lock_\w+|(_raw|queued)_(spin|read|write)_(try)?lock\w*"
                                r"|__?mutex_lock\w*|mutex_(lock|unlock)\w*|(rwsem_)?down_(read|write)\w*|osq_lock)$"),
    "a lock": re.compile(r"futex|lll_lock|pthread_(mutex|cond|rwlock|spin)_|^(__new_)?sem_\w*(wait|post)"
                         r"|lock_(slow|contended)|park_slow|ObjectMonitor|Unsafe_Park"),
}  # fmt: skip


class ProfileFailed(GilscopeError):
    """perf could not be started, or left nothing to read."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One sample: what was counted, how much it stands for, and (symbol, object) of each frame, innermost first."""

    event: str
    weight: int
    stack: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Hot:
    """A function, and what the service spent in it.

    symbol, dso:    its name, and the program, library or [kernel] that it is in
    share:          0..1, of the service's CPU time; every sample counts for one function only
    switch_share:   0..1, of its context switches; None where none were counted
    lock:           which lock it takes or gives back, or "". A lock's share includes all that is done for it,
                    contended or not
    kernel_counted: False where perf may not look into the kernel
    """

    symbol: str
    dso: str
    share: float
    switch_share: float | None
    lock: str
    kernel_counted: bool = True


def available() -> str:
    """'' when perf can record here; else one line that says what to do."""
    if sys.platform != "linux":
        return "--profile perf needs Linux."
    program = shutil.which("perf")
    if program is None:
        return f"perf was not found. Install it with: {INSTALL}"
    try:
        probe = _run([*_record("/dev/null"), "--", "true"], PROBE_DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} could not be run: {error}"
    return "" if probe.returncode == 0 else _why_not(program, probe.stderr)


def _why_not(program: str, complaint: str) -> str:
    level = _paranoid()
    if "perf_event_paranoid" in complaint and level is not None and level > 2:
        return (
            f"perf may not record here: kernel.perf_event_paranoid is {level}. "
            "Allow it with: sudo sysctl kernel.perf_event_paranoid=1"
        )
    if "ermission" in complaint or "not permitted" in complaint:
        return "perf may not record here; in a container, start it with --cap-add PERFMON (or SYS_ADMIN)."
    return f"{program} cannot record here: {_last_line(complaint)} Install it with: {INSTALL}"


def _paranoid() -> int | None:
    try:
        return int(PARANOID.read_text())
    except (OSError, ValueError):
        return None


def _record(file: str) -> list[str]:
    """The command; --no-buildid-cache keeps perf from copying programs into ~/.debug."""
    events = f"cycles,context-switches/period={SWITCH_PERIOD},name={SWITCHES}/"
    return [
        *("perf", "record", "-F", str(FREQUENCY_HZ), "-e", events),
        *("--call-graph", f"dwarf,{STACK_BYTES}", "--max-size", LARGEST_FILE, "--no-buildid-cache", "-o", file),
    ]


def _run(command: Sequence[str], deadline_s: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, check=False, capture_output=True, text=True, errors="replace", timeout=deadline_s, env=_environment()
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "PERF_CONFIG": os.devnull}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing."


class Recording:
    """perf record of process *pid* into *file*, from the start of the `with` block to stop() or its end.

    When the block is entered, perf counts. process_group: the group perf joins, such as the sandbox's; it ends with it.
    """

    def __init__(self, pid: int, file: Path, process_group: int | None = None) -> None:
        self.pid, self.file = pid, file
        self._process_group = process_group
        self._perf: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115

    def __repr__(self) -> str:
        state = "stopped" if self._perf is None else f"by perf, pid {self._perf.pid}"
        return f"Recording(of pid {self.pid} into {self.file}, {state})"

    def __enter__(self) -> "Recording":
        """Raises ProfileFailed if perf does not come to count."""
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.stop()
        else:
            self._end()

    def stop(self) -> None:
        """End perf in good order; a second time does nothing. Raises ProfileFailed if it left no samples to read."""
        if self._perf is None:
            return
        self._perf.send_signal(signal.SIGINT)
        try:
            self._perf.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise self._failed(f"did not end within {STOP_DEADLINE_S:.0f} s") from None
        finally:
            self._end()
