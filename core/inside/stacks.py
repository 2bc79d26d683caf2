"""Start a sampler of the stacks and states of all threads of this process (stacks_sampler.py).

The sampler is a separate process, so that it does not compete for the GIL. It reads the stacks from
outside (_remote_debugging), which needs Python 3.14 or later. If there is a GIL, two threads
contend for it at the start, which shows the sampler the address of the GIL's futex.

start() runs in the service, before its own code. It and the sampler talk over a socket pair: the
sampler sends its pid when it is ready, and then one byte when it no longer looks for the futex.
"""

import _thread
import ctypes
import json
import os
import select
import sys
from socket import socketpair
from time import monotonic

# the folder of gilscope, from which the sampler imports core
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# the sampler's program; its arguments are ROOT and the configuration as JSON
SAMPLER = (
    "import sys; sys.path.append(sys.argv[1]); from core.inside.stacks_sampler import main; "
    "main(sys.argv[2])"
)
# those whose system calls stacks_threads.py knows
MACHINES = ("x86_64", "aarch64", "riscv64")
READY_DEADLINE_MS = 10_000  # for each of the two answers of the sampler
PR_SET_PTRACER = 0x59616D61  # prctl(2)
OLDEST = (3, 14)  # has _remote_debugging
SPIN = 2000  # turns of a loop between two looks for an answer


def start(folder: str, options: object) -> None:
    """Start the stack sampler and wait until it is ready. The sampler ends with this process.
    Raises RuntimeError.
    """
    if sys.version_info < OLDEST:
        raise RuntimeError("stacks can be read only in CPython 3.14 or later")
    if sys.platform != "linux" or os.uname().machine not in MACHINES:
        raise RuntimeError(f"stacks can only be sampled on Linux, on {', '.join(MACHINES)}")
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    channel, theirs = (end.detach() for end in socketpair())
    config = json.dumps(
        {"channel": theirs, "pid": os.getpid(), "folder": folder, "has_gil": has_gil}
    )
    as_here = (
        ["-X", "gil=1"] if has_gil and "t" in sys.abiflags else []
    )  # its GIL state is seen as the service's
    _spawn([sys.executable, *as_here, "-I", "-S", "-B", "-c", SAMPLER, ROOT, config], theirs)
    waiting = select.poll()
    waiting.register(channel, select.POLLIN)
    said = os.read(channel, 16) if waiting.poll(READY_DEADLINE_MS) else b""
    if not said:
        raise RuntimeError("the stack sampler did not start")
    ctypes.CDLL(None).prctl(
        PR_SET_PTRACER, int(said), 0, 0, 0
    )  # Yama may otherwise allow only ancestors to read
    if has_gil:
        _contend(waiting)
        if not waiting.poll(READY_DEADLINE_MS):
            raise RuntimeError("the stack sampler did not find the GIL in time")
        os.read(channel, 1)
    os.close(channel)


def _spawn(command: list[str], descriptor: int) -> None:
    """Start *command* as a process that inherits *descriptor*, but is not a child of this process.

    A service may wait for all its children.
    """
    os.set_inheritable(descriptor, True)
    detached = ["sh", "-c", '"$@" </dev/null >/dev/null 2>&1 &', "sh", *command]
    os.waitpid(os.posix_spawn("/bin/sh", detached, os.environ), 0)
    os.close(descriptor)


def _contend(waiting: select.poll) -> None:
    """Let two threads contend for the GIL until the sampler has found the futex on
    which they wait.
    """
    # the first entry ends spin(), which adds the second
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
