"""Where a service spends its CPU time and what its threads stop for: `--profile perf`, by linux-perf.

Two things are sampled with their call-graphs: CPU time (the event cycles, or cpu-clock without a counter), and context
switches, one in SWITCH_PERIOD of each thread, for most of what a contended lock costs is sleep. Call-graphs are unwound
from a copy of the top of each stack, for CPython is built without frame pointers. Python functions are not named:
`-X perf_jit` (3.13 or later) would, at a price in every call.
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
from typing import IO

from core.errors import GilscopeError
from core.messages import NOTHING, Message, message
from core.processtree import tree
from lab.machine.kernelfiles import Reader
from lab.output import last_text
from lab.processes import guarded, run
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


def obstacle() -> Message:
    """Why perf cannot record here, and what to do; NOTHING if it can."""
    if sys.platform != "linux":
        return message("--profile perf needs Linux.")
    program = shutil.which("perf")
    if program is None:
        return message("perf was not found. Install it with: {command}", command=INSTALL)
    try:
        probe = run([*_record("/dev/null"), "--", "true"], PROBE_DEADLINE_S, _environment())
    except (OSError, subprocess.TimeoutExpired) as error:
        return message("{program} could not be run: {error}", program=program, error=str(error))
    return _refusal(program, probe.stderr) if probe.returncode else NOTHING


def _refusal(program: str, output: str) -> Message:
    level = Reader().number(str(PARANOID))
    if "perf_event_paranoid" in output and level is not None and level > 2:
        return message(
            "perf may not record here: kernel.perf_event_paranoid is {level}. "
            "Allow it with: sudo sysctl kernel.perf_event_paranoid=1",
            level=level,
        )
    if "ermission" in output or "not permitted" in output:
        return message("perf may not record here; in a container, start it with --cap-add PERFMON (or SYS_ADMIN).")
    return message(
        "{program} cannot record here: {output} Install it with: {command}",
        program=program,
        output=_last_line(output),
        command=INSTALL,
    )


def _record(file: str) -> list[str]:
    """The command; --no-buildid-cache keeps perf from copying programs into ~/.debug."""
    events = f"cycles,context-switches/period={SWITCH_PERIOD},name={SWITCHES}/"
    return [
        *("perf", "record", "-F", str(FREQUENCY_HZ), "-e", events),
        *("--call-graph", f"dwarf,{STACK_BYTES}", "--max-size", LARGEST_FILE, "--no-buildid-cache", "-o", file),
    ]


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "PERF_CONFIG": os.devnull}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "-"


class Recording:
    """perf record of *pid* and its descendants into *file*, from the start of the `with` block to stop() or its end.

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
        self._output = tempfile.TemporaryFile()
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: object, *error: object) -> None:
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
            late = message("did not end within {limit_s:g} s", limit_s=STOP_DEADLINE_S)
            raise self._failed(late) from None
        finally:
            self._end()

    def _start(self) -> None:
        (control, controller), (acknowledged, acknowledging) = os.pipe(), os.pipe()
        self._ends = [controller, acknowledged]
        pipes = f"fd:{control},{acknowledging}"
        try:
            pids = ",".join(str(pid) for pid in tree(self.pid))
            self._perf = subprocess.Popen(
                [*_record(str(self.file)), "-D", "-1", "--control", pipes, "-p", pids],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._output,
                pass_fds=(control, acknowledging),
                process_group=self._process_group,
                env=_environment(),
            )
        except OSError as error:
            raise _not_started(error) from error
        finally:
            os.close(control)
            os.close(acknowledging)
        self._enable(controller, acknowledged)

    def _enable(self, controller: int, acknowledged: int) -> None:
        try:
            os.write(controller, b"enable\n")
            waiting = select.poll()
            waiting.register(acknowledged, select.POLLIN)
            answer = waiting.poll(START_DEADLINE_S * 1000) and os.read(acknowledged, 16)
        except BrokenPipeError:
            answer = b""
        if not answer:
            raise self._failed(message("did not start counting"))

    def _failed(self, failure: Message) -> ProfileFailed:
        self._output.seek(0)
        last = message("Its last line: {output}", output=_last_line(last_text(self._output.read(), 1000)))
        return ProfileFailed(
            "perf, recording process {pid}, {failure}. {last}", pid=self.pid, failure=failure, last=last
        )

    def _end(self) -> None:
        if self._perf is not None and self._perf.poll() is None:
            self._perf.kill()
            self._perf.wait()
        self._perf = None
        self._output.close()
        while self._ends:
            os.close(self._ends.pop())


def _not_started(error: OSError) -> ProfileFailed:
    return ProfileFailed(
        "perf could not be started: {error}. Install it with: {command}", error=error.strerror, command=INSTALL
    )


def hottest(perf_data: Path) -> Profile:
    """What the recording holds. Raises ProfileFailed if perf cannot read it, or it has no sample of CPU time."""
    command = ["perf", "script", "--no-inline", "-F", "event,period,ip,sym,dso", "-i", str(perf_data)]
    with tempfile.TemporaryFile("w+", errors="replace") as stderr:
        try:
            profile, status = _read(command, stderr)
        except OSError as error:
            raise _not_started(error) from error
        stderr.seek(0)
        output = stderr.read()
    if status != 0 or not profile.samples:
        last = message("Its last line: {output}", output=_last_line(output))
        name = str(perf_data)
        raise ProfileFailed("{file} holds no sample of CPU time that perf could read. {last}", file=name, last=last)
    lost = _LOST.search(output)
    return replace(profile, lost_share=float(lost[1]) / 100) if lost else profile


def _read(command: Sequence[str], stderr: IO[str]) -> tuple[Profile, int]:
    """The profile, and perf's exit status. Its output can be long, so it is read as it comes."""
    with guarded(command, _environment(), streams=(subprocess.PIPE, stderr)) as guard:
        profile = profile_of(parsed(guard.process.stdout or ()))
        guard.process.wait()
    return profile, guard.status()
