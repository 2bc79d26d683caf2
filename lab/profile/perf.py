"""Where a service spends its CPU time and what its threads stop for: `--profile perf`, by linux-perf.

Two things are sampled with their call-graphs: CPU time (the event cycles, or cpu-clock where there is no counter), and
context switches, one in SWITCH_PERIOD of each thread. Most of what a contended lock costs is sleep, and only the
second shows that. Call-graphs are unwound from a copy of the top of each stack: CPython is built without frame
pointers unless told to, so that perf's cheaper way ends in noise. Python functions are not named; CPython can do that
(`-X perf_jit`, 3.13 or later), at a price in every call, so measured children do not use it.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO

from core.errors import GilscopeError
from lab.profile.hotspots import SWITCHES, Profile, parsed, profile_of

FREQUENCY_HZ = 499  # not a divisor of the timer's, so that the two do not beat
SWITCH_PERIOD = 101
STACK_BYTES = 4096
LARGEST_FILE = "128M"  # some 30 000 samples
START_DEADLINE_S = 20.0
STOP_DEADLINE_S = 30.0
PROBE_DEADLINE_S = 20.0
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
INSTALL = "apt-get install linux-perf (Debian), linux-tools-$(uname -r) (Ubuntu), dnf install perf (Fedora)"

_LOST = re.compile(r"lost ([\d.]+)%")


class ProfileFailed(GilscopeError):
    """perf could not be started, or left nothing to read."""


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
        # Its ends of the pipes stay open until it has ended: perf 6.1 loses its samples otherwise.
        self._ends: list[int] = []

    def __repr__(self) -> str:
        state = "stopped" if self._perf is None else f"by perf, pid {self._perf.pid}"
        return f"Recording(of pid {self.pid} into {self.file}, {state})"

    def __enter__(self) -> "Recording":
        """Raises ProfileFailed if perf does not come to count."""
        self._said = tempfile.TemporaryFile()
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
        """End perf in good order; a second time does nothing. Raises ProfileFailed if it does not end."""
        if self._perf is None:
            return
        self._perf.send_signal(signal.SIGINT)
        try:
            self._perf.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise self._failed(f"did not end within {STOP_DEADLINE_S:.0f} s") from None
        finally:
            self._end()

    def _start(self) -> None:
        (told, teller), (hearer, heard) = os.pipe(), os.pipe()
        self._ends = [teller, hearer]
        try:
            command = [*_record(str(self.file)), "-D", "-1", "--control", f"fd:{told},{heard}", "-p", str(self.pid)]
            self._perf = self._popen(command, (told, heard))
        finally:
            os.close(told)
            os.close(heard)
        self._enable(teller, hearer)

    def _enable(self, teller: int, hearer: int) -> None:
        try:
            os.write(teller, b"enable\n")
            waiting = select.poll()
            waiting.register(hearer, select.POLLIN)
            acknowledged = waiting.poll(START_DEADLINE_S * 1000) and os.read(hearer, 16)
        except BrokenPipeError:
            acknowledged = b""
        if not acknowledged:
            raise self._failed("did not come to count")

    def _popen(self, command: Sequence[str], kept: Sequence[int]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                pass_fds=kept,
                process_group=self._process_group,
                env=_environment(),
            )
        except OSError as error:
            raise ProfileFailed(f"perf could not be started: {error.strerror}. Install it with: {INSTALL}") from error

    def _failed(self, how: str) -> ProfileFailed:
        self._said.seek(0)
        last = _last_line(self._said.read().decode(errors="replace"))
        return ProfileFailed(f"perf, recording process {self.pid}, {how}. Its last line: {last}")

    def _end(self) -> None:
        if self._perf is not None and self._perf.poll() is None:
            self._perf.kill()
            self._perf.wait()
        self._perf = None
        self._said.close()
        while self._ends:
            os.close(self._ends.pop())


def hottest(perf_data: Path) -> Profile:
    """What the recording says. Raises ProfileFailed if perf cannot read it or it holds no sample of CPU time."""
    command = ["perf", "script", "--no-inline", "-F", "event,period,ip,sym,dso", "-i", str(perf_data)]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        try:
            profile, status = _read(command, said)
        except OSError as error:
            raise ProfileFailed(f"perf could not be started: {error.strerror}. Install it with: {INSTALL}") from error
        said.seek(0)
        complaint = said.read()
    if status != 0 or not profile.samples:
        last = _last_line(complaint)
        raise ProfileFailed(f"{perf_data} holds no sample of CPU time that perf could read. Its last line: {last}")
    lost = _LOST.search(complaint)
    return replace(profile, lost_share=float(lost[1]) / 100) if lost else profile


def _read(command: Sequence[str], said: IO[str]) -> tuple[Profile, int]:
    """The profile, and perf's exit status. Its output can be long, so it is read as it comes."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=said, text=True, errors="replace", env=_environment()
    ) as script:
        assert script.stdout is not None
        profile = profile_of(parsed(script.stdout))
    return profile, script.returncode
