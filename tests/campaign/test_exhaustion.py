"""A full disk, a closed terminal, too little memory and probes in the kernel, in phases of a run.

However a run ends: what was saved can be read and continued, one line says why, and nothing is left.
"""

import ctypes
import errno
import os
import platform
import pty
import random
import re
import signal
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from lab.profile.lock_watcher import obstacle_to
from lab.profile.uprobes import MACHINES
from lab.run.measured_runtimes import Runtime
from record.run_file import load
from tests.campaign import impatient
from tests.campaign.hostile import sample
from tests.campaign.saved import cells_in
from tests.campaign.sizes import SEED, campaign_only
from tests.campaign.test_blame import as_root, mounted
from tests.campaign.test_kills import BLOCKS, ENDS_WITHIN_S, LINES, flags_of, windows
from tests.conftest import runtime_or_skip
from tests.contract.runs import CLIENT, RUNNER, Run, finished, plan_flags, result_of, runtime_flags, started, stop
from tests.tables import each_row

WINDOWS = ("before the first cell", "starting", "timed", "between cells", "reporting")
IMPATIENT = Path(impatient.__file__)


def wait_for_window(run: Run, out: Path, window: str, chance: random.Random) -> None:
    """Wait until *window* opens, or the run ends."""
    is_open = windows(out, chance)[window]
    with suppress(AssertionError):  # it has ended
        for _ in run.turns(window, ENDS_WITHIN_S):
            if is_open(run.children()):
                return


def expect_one_reason(run: Run) -> str:
    """The run has no traceback of its own, and not more than one error."""
    said = run.complained() + run.said()
    assert not re.search("^Traceback|bug in gilscope", said, re.MULTILINE), said
    assert said.count("error: ") <= 1, said
    return said


# ---- a full disk ---------------------------------------------------------------------------------------------------


def fill(disk: Path) -> Path:
    """Write a file that takes all the room on *disk*."""
    with open(disk / "filler", "wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(4096))
    return disk / "filler"


@campaign_only
@as_root
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("place", ["out", "t"])
def test_a_disk_that_is_full_loses_nothing_and_is_named(
    place: str, window: str, any_runtime: Runtime, short_folder: Path
) -> None:
    with mounted(short_folder / place, "size=16m") as disk:
        out = short_folder / "out" / "run"
        with started(flags_of(any_runtime, out), short_folder) as run:
            wait_for_window(run, out, window, random.Random(SEED))
            before, filler = cells_in(out), fill(disk)
            status = run.status(ENDS_WITHIN_S)
        said = expect_one_reason(run)
        filler.unlink()
        assert run.leftovers(out) == [], said
        cells = cells_in(out)
        assert cells[: len(before)] == before
        assert status in ((0, 1, 2) if len(cells) == BLOCKS else (2,)), said
        if status == 2:
            assert os.strerror(errno.ENOSPC) in said
        if cells:
            again = finished(["--resume", str(out), "--quiet"], short_folder)
            assert again.status() in (0, 1)
            assert len(load(out).cells) == BLOCKS


# ---- a closed terminal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", sample(WINDOWS, 1))
def test_a_terminal_that_is_closed_ends_the_run_and_leaves_nothing(
    window: str, any_runtime: Runtime, short_folder: Path
) -> None:
    out, (ours, theirs) = short_folder / "out", pty.openpty()
    script = _in_a_terminal(theirs, short_folder / "terminal.py")
    with started(flags_of(any_runtime, out), short_folder, script=script) as run:
        os.set_blocking(ours, False)
        wait_for_window(run, out, window, random.Random(SEED))
        before = cells_in(out)
        os.close(theirs)
        os.close(ours)
        status = run.status(ENDS_WITHIN_S)
    assert run.leftovers(out) == []
    assert status in (0, 128 + signal.SIGHUP, -signal.SIGHUP)  # the last before the runner handles the signal
    assert cells_in(out)[: len(before)] == before


def _in_a_terminal(descriptor: int, script: Path) -> Path:
    """Write *script*, which runs runner.py with the terminal *descriptor* as its controlling terminal and output."""
    script.write_text(
        "import fcntl, os, runpy, sys, termios\n"
        f"terminal = os.open({os.ttyname(descriptor)!r}, os.O_RDWR)\n"
        "fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)\n"
        "[os.dup2(terminal, number) for number in range(3)]\n"
        f"sys.path.insert(0, {str(RUNNER.parent)!r})\n"
        f"runpy.run_path({str(RUNNER)!r}, run_name='__main__')\n"
    )
    return script


# ---- too little memory ---------------------------------------------------------------------------------------------

HUNGRY = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Hungry(BaseHTTPRequestHandler):
    protocol_version, wbufsize, held = "HTTP/1.1", -1, []
    def do_GET(self):
        self.held.append(bytearray(8 << 20))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *words):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hungry).serve_forever()
"""


@campaign_only
@each_row
def test_a_runner_with_too_little_memory_says_so(size_mib: int, any_runtime: Runtime, short_folder: Path) -> None:
    """Its children have the same limit."""
    script = short_folder / "limited.py"
    script.write_text(
        "import os, resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({size_mib << 20},) * 2)\n"
        f"os.execv(sys.executable, [sys.executable, {str(RUNNER)!r}, *sys.argv[1:]])\n"
    )
    out = short_folder / "out"
    run = finished(flags_of(any_runtime, out), short_folder, script=script)
    said = expect_one_reason(run)
    assert run.leftovers(out) == [], said
    assert run.status() in (0, 1, 2), said
    assert run.status() == 0 or said.strip()


@campaign_only
def test_a_service_with_too_little_memory_fails_its_cell(any_runtime: Runtime, short_folder: Path) -> None:
    (short_folder / "hungry.py").write_text(HUNGRY)
    command = "sh -c 'ulimit -v 400000; exec {python} hungry.py {port}'"
    flags = ["--service-command", command, *runtime_flags(any_runtime), "--num-clients", "1", "--warmup", "0"]
    run = finished([*flags, "--blocks", "1", "--duration", "3", "--out", "out"], short_folder)
    expect_one_reason(run)
    (cell,) = result_of(short_folder / "out")["cells"]
    assert (run.status(), cell["status"]) == (1, "failed")
    assert re.search("[0-9]+ of [0-9]+ requests were not answered", cell["reason"]["text"])
    assert run.leftovers(short_folder / "out") == []


# ---- probes in the kernel ------------------------------------------------------------------------------------------

_NEXT_PROGRAM, _NEXT_LINK = 11, 31  # BPF_PROG_GET_NEXT_ID, BPF_LINK_GET_NEXT_ID: bpf(2)
PROFILED = ["--profile", "locks", "--duration", "3", "--blocks", "1"]


def ids(command: int) -> set[int]:
    """The ids of all BPF programs or links in the kernel."""
    call, found, last = ctypes.CDLL(None, use_errno=True).syscall, set[int](), 0
    while True:
        attributes = ctypes.create_string_buffer(struct.pack("=III", last, 0, 0), 16)
        if call(MACHINES[platform.machine()].bpf, command, attributes, 12):
            return found
        last = struct.unpack_from("=I", attributes, 4)[0]
        found.add(last)


@campaign_only
@pytest.mark.skipif(bool(obstacle_to("locks")), reason=str(obstacle_to("locks")))
@pytest.mark.parametrize("target", ["runner", "service", "client", "reaper"])
@each_row
def test_no_probe_outlives_a_profile(target: str, number: str, short_folder: Path) -> None:
    runtime = runtime_or_skip("3.14t")
    before = ids(_NEXT_PROGRAM), ids(_NEXT_LINK)
    out, key = short_folder / "out", signal.Signals[number]
    flags = [*plan_flags(runtime, NUM_CLIENTS=2), "--quiet", "--out", str(out), *PROFILED]
    with started(flags, short_folder, script=IMPATIENT) as run:
        run.until(
            "the probes of a profile while clients call",
            lambda: cells_in(out) and CLIENT in " ".join(run.children().values()) and ids(_NEXT_LINK) - before[1],
        )
        pids = [pid for pid, line in run.children().items() if LINES.get(target, "-") in line]
        (pid, *_) = [run.process.pid] if target == "runner" else pids
        stop(pid) if key == signal.SIGSTOP else os.kill(pid, key)
        if (target, key) == ("runner", signal.SIGSTOP):
            os.kill(run.process.pid, signal.SIGKILL)
        run.status(ENDS_WITHIN_S)
    expect_one_reason(run)
    assert run.leftovers(out) == []
    assert (ids(_NEXT_PROGRAM) - before[0], ids(_NEXT_LINK) - before[1]) == (set(), set())
