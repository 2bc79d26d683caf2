"""`--profile perf`: record a service's CPU time and context switches with linux-perf.

perf samples two events with their call graphs. One event is CPU time: cycles, or cpu-clock if there is no hardware
counter. The other event is every SWITCH_PERIOD-th context switch of each thread, because a thread that waits for a
contended lock mostly sleeps. perf unwinds call graphs from a copy of the top of each stack, because CPython is built
without frame pointers. Python functions have no names here. `-X perf_jit` (3.13 or later) would name them, but it makes
every call slower.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import socket, socketpair
from typing import IO

from core.errors import ChildFailed
from core.messages import NOTHING, Message, message
from core.processtree import tree
from lab.machine.host import Reader
from lab.output import last_text
from lab.processes import guarded, run
from lab.profile.hotspots import SWITCHES, HotSpots, count_hot_spots, parse_samples

FREQUENCY_HZ = 499  # no divisor of the kernel timer's frequency, so that samples do not stay in step with the timer
SWITCH_PERIOD = 101
STACK_BYTES = 4096
LARGEST_FILE = "128M"  # room for about 30 000 samples
START_DEADLINE_S = 20.0
STOP_DEADLINE_S = 30.0
PROBE_DEADLINE_S = 20.0
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
INSTALL = "apt-get install linux-perf (Debian), linux-tools-$(uname -r) (Ubuntu), dnf install perf (Fedora)"

_LOST = re.compile(r"lost ([\d.]+)%")


def obstacle() -> Message:
    """Return why perf cannot record on this machine and how to fix it; NOTHING if perf can record."""
    if sys.platform != "linux":
        return message("--profile perf needs Linux.")
    program = shutil.which("perf")
    if program is None:
        return message("perf was not found. Install it with: {command}", command=INSTALL)
    try:
        probe = run([*_record("/dev/null"), "--", "true"], PROBE_DEADLINE_S, _environment())
    except (OSError, subprocess.TimeoutExpired) as error:
        return message("{program} could not be run: {error}", program=program, error=str(error))
    return _explain_refusal(program, probe.stderr) if probe.returncode else NOTHING


def _explain_refusal(program: str, output: str) -> Message:
    level = Reader().number(str(PARANOID))
    if "perf_event_paranoid" in output and level is not None and level > 2:
        return message(
            "perf is not permitted to record here: kernel.perf_event_paranoid is {level}. "
            "Permit it with: sudo sysctl kernel.perf_event_paranoid=1",
            level=level,
        )
    if "ermission" in output or "not permitted" in output:
        return message(
            "perf is not permitted to record here. If this is a container, start it with --cap-add PERFMON (or "
            "SYS_ADMIN)."
        )
    return message(
        "{program} cannot record on this machine: {output} Install a working perf with: {command}",
        program=program,
        output=_last_line(output),
        command=INSTALL,
    )


def _record(file: str) -> list[str]:
    """Return the perf command that records into *file*, without copying programs to ~/.debug (--no-buildid-cache)."""
    events = f"cycles,context-switches/period={SWITCH_PERIOD},name={SWITCHES}/"
    return [
        *("perf", "record", "-F", str(FREQUENCY_HZ), "-e", events),
        *("--call-graph", f"dwarf,{STACK_BYTES}", "--max-size", LARGEST_FILE, "--no-buildid-cache", "-o", file),
    ]


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "PERF_CONFIG": os.devnull}


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip() or "-"


def _describe_last_line(output: str) -> Message:
    return message("The last line of perf's output: {output}", output=_last_line(output))


@contextmanager
def recording(pid: int, file: Path, process_group: int | None = None) -> Iterator[int]:
    """Record process *pid* and its descendants into *file* during the `with` block. Yield perf's pid once perf records.

    process_group: the process group that perf joins, such as the sandbox's; perf is killed with this group
    Raises ChildFailed if perf does not start counting, or does not end after the `with` block.
    """
    ours, theirs = socketpair()
    # Keep our end open until perf has ended, because perf 6.1 loses its samples otherwise.
    with tempfile.TemporaryFile() as output, ours:
        with theirs:
            perf = _start_perf(pid, file, theirs.fileno(), output, process_group)
        try:
            if not _start_counting(ours):
                raise _recording_error(pid, message("perf did not start counting"), output)
            yield perf.pid
            perf.send_signal(signal.SIGINT)
            perf.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired as late:
            failure = message("perf did not end within {limit_s:g} s", limit_s=late.timeout)
            raise _recording_error(pid, failure, output) from None
        finally:
            perf.kill()
            perf.wait()


def _start_perf(
    pid: int, file: Path, control: int, output: IO[bytes], process_group: int | None
) -> "subprocess.Popen[bytes]":
    """Start perf, which reads commands from the socket *control* and acknowledges them there."""
    pids = ",".join(map(str, tree(pid)))
    try:
        return subprocess.Popen(
            [*_record(str(file)), "-D", "-1", "--control", f"fd:{control},{control}", "-p", pids],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            pass_fds=(control,),
            process_group=process_group,
            env=_environment(),
        )
    except OSError as error:
        raise _start_error(error) from error


def _start_counting(control: socket) -> bool:
    """Tell perf to start counting, and return whether perf confirms the start."""
    control.settimeout(START_DEADLINE_S)
    with suppress(OSError):
        control.sendall(b"enable\n")
        return bool(control.recv(16))
    return False


def _recording_error(pid: int, failure: Message, output: IO[bytes]) -> ChildFailed:
    output.seek(0)
    last = _describe_last_line(last_text(output.read(), 1000))
    return ChildFailed("perf failed to record process {pid}: {failure}. {last}", pid=pid, failure=failure, last=last)


def _start_error(error: OSError) -> ChildFailed:
    return ChildFailed(
        "perf could not be started: {error}. Install it with: {command}", error=error.strerror, command=INSTALL
    )


def read_hot_spots(perf_data: Path) -> HotSpots:
    """Return the hot spots in a perf recording. Raises ChildFailed if the recording has no CPU time sample."""
    command = ["perf", "script", "--no-inline", "-F", "event,period,ip,sym,dso", "-i", str(perf_data)]
    with tempfile.TemporaryFile("w+", errors="replace") as stderr:
        try:
            with guarded(command, _environment(), streams=(subprocess.PIPE, stderr)) as guard:
                profile = count_hot_spots(
                    parse_samples(guard.process.stdout or ())
                )  # read line by line: the output can be long
                guard.process.wait()
            status = guard.status()
        except OSError as error:
            raise _start_error(error) from error
        stderr.seek(0)
        output = stderr.read()
    if status != 0 or not profile.samples:
        last = _describe_last_line(output)
        raise ChildFailed("perf could not read any sample of CPU time from {file}. {last}", file=perf_data, last=last)
    lost = _LOST.search(output)
    return profile._replace(lost_share=float(lost[1]) / 100) if lost else profile
