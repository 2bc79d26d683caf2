"""Start a sampler of the stacks and states of all threads of this process (stacks_sampler.py).

The sampler is a separate process, so that it does not compete for the GIL. On Python 3.14 and later it reads the stacks
from outside (_remote_debugging). On older versions a thread of this process answers its questions, after the sampler
has read the states of all threads. If there is a GIL, two threads contend for it at the start, which shows the sampler
the address of the GIL's futex.
"""

import _thread
import ctypes
import json
import os
import select
import sys
from socket import socketpair
from time import monotonic
from types import CodeType, FrameType
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLER = "import sys; sys.path.append(sys.argv[1]); from core.inside.stacks_sampler import main; main(sys.argv[2])"
MACHINES = ("x86_64", "aarch64", "riscv64")
READY_DEADLINE_MS = 10_000
PR_SET_PTRACER = 0x59616D61  # prctl(2)
MOST_FRAMES = 100
MOST_STACKS = 8192
SPIN = 2000
_MAIN = _thread.get_ident()
_inherited: list[int] = []  # the channel to this process's sampler, which a forked child closes


def start(folder: str, options: dict[str, Any]) -> None:
    """Start the stack sampler and wait until it is ready. The sampler ends with this process. Raises RuntimeError."""
    while _inherited:
        os.close(_inherited.pop())
    if sys.platform != "linux" or os.uname().machine not in MACHINES:
        raise RuntimeError(f"stacks can only be sampled on Linux, on {', '.join(MACHINES)}")
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    channel, theirs = (end.detach() for end in socketpair())
    config = json.dumps({"channel": theirs, "pid": os.getpid(), "folder": folder, "has_gil": has_gil})
    as_here = ["-X", "gil=1"] if has_gil and "t" in sys.abiflags else []  # its GIL state is seen as the service's
    _spawn([sys.executable, *as_here, "-I", "-S", "-B", "-c", SAMPLER, ROOT, config], theirs)
    waiting = select.poll()
    waiting.register(channel, select.POLLIN)
    said = os.read(channel, 16) if waiting.poll(READY_DEADLINE_MS) else b""
    if not said:
        raise RuntimeError("the stack sampler did not start")
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, int(said), 0, 0, 0)  # Yama may otherwise allow only ancestors to read
    if has_gil:
        _contend(waiting)
        if not waiting.poll(READY_DEADLINE_MS):
            raise RuntimeError("the stack sampler did not find the GIL in time")
        os.read(channel, 1)
    if sys.version_info >= (3, 14):
        os.close(channel)
    else:
        _inherited.append(channel)
        _thread.start_new_thread(_serve, (channel,))


def _spawn(command: list[str], descriptor: int) -> None:
    """Start *command* as a process that inherits *descriptor*, but is not a child of this process.

    A service may wait for all its children.
    """
    os.set_inheritable(descriptor, True)
    detached = ["sh", "-c", '"$@" </dev/null >/dev/null 2>&1 &', "sh", *command]
    os.waitpid(os.posix_spawn("/bin/sh", detached, os.environ), 0)
    os.close(descriptor)


def _contend(waiting: select.poll) -> None:
    """Let two threads contend for the GIL until the sampler has found the futex on which they wait."""
    ended: list[bool] = []

    def spin() -> None:
        while not ended:
            pass
        ended.append(True)

    _thread.start_new_thread(spin, ())
    until = monotonic() + READY_DEADLINE_MS / 1000
    while not waiting.poll(0) and monotonic() < until:
        for _ in range(SPIN):
            pass
    ended.append(True)
    while len(ended) < 2:
        pass


def _serve(channel: int) -> None:
    """Answer each list of thread ids from the sampler with {thread id: number of its stack} and all new stacks."""
    known: dict[tuple[Any, ...], int] = {}
    try:
        while wanted := os.read(channel, 1 << 16):
            line = json.dumps(_stacks(json.loads(wanted), known)).encode() + b"\n"
            while line:
                line = line[os.write(channel, line) :]
    except (OSError, ValueError):
        return  # the sampler has ended


def _stacks(threads: list[int], known: dict[tuple[Any, ...], int]) -> dict[str, Any]:
    active = getattr(sys.modules.get("threading"), "_active", {})
    frames = sys._current_frames()
    at: dict[int, int] = {}
    new: list[Any] = []
    for ident, thread in list(active.items()):
        native_id = os.getpid() if ident == _MAIN else thread.native_id
        if native_id in threads and ident in frames:
            key = _key(frames[ident])
            if key not in known:
                if len(known) >= MOST_STACKS:
                    continue
                known[key] = len(known)
                new.append([known[key], [_frame(*place) for place in zip(key[::2], key[1::2], strict=True)]])
            at[native_id] = known[key]
    return {"at": at, "new": new}


def _key(frame: FrameType | None) -> tuple[Any, ...]:
    """Return the code object and instruction of each frame, innermost frame first."""
    places: list[Any] = []
    while frame is not None and len(places) < 2 * MOST_FRAMES:
        places += (frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return tuple(places)


def _frame(code: CodeType, place: int) -> tuple[str, int, str]:
    lines = (line for start, end, line in code.co_lines() if start <= place < end)
    return code.co_filename, next(lines, None) or code.co_firstlineno, code.co_qualname
