"""Two ways of reading the stacks of all threads of a process, for the sampler beside it."""

import json
import os
import select
from collections.abc import Callable
from typing import Any

from core.inside.stacks_threads import Frame

MOST_FRAMES = 100
MOST_READS = 5  # of stacks that change meanwhile
ANSWER_DEADLINE_MS = 1000

Key = tuple[Any, ...]  # what a reader tells a stack by


class Remote:
    """Stacks of another process, read from outside: 3.14 and later.

    On a free-threaded build a thread may have a copy of a function's bytecode that is newer than what the unwinder
    keeps: its line is negative, or no stack is read at all ("Invalid tlbc_index"), until another unwinder reads it.
    Frames that have no line all the same are let be.
    """

    name = "_remote_debugging"

    def __init__(self, config: dict[str, Any]) -> None:
        self._pid = config["pid"]
        self._unwinder = _unwinder(self._pid)
        self._lineless: set[Any] = set()

    def stacks(self, tids: list[int]) -> dict[int, Key]:
        """Return the stack of each thread; of none where the memory changed while it was read."""
        stacks = self._read()
        if not stacks or _lineless(stacks) - self._lineless:
            self._unwinder = _tried(lambda: _unwinder(self._pid)) or self._unwinder
            stacks = self._read()
            self._lineless |= _lineless(stacks)
        return stacks

    def frames(self, key: Key) -> tuple[Frame, ...]:
        """Return the frames of a stack, the innermost first."""
        return tuple((info.filename, max(0, _line(info)), info.funcname) for info in key[:MOST_FRAMES])

    def _read(self) -> dict[int, Key]:
        traces = (_tried(self._unwinder.get_stack_trace) for _ in range(MOST_READS))
        trace: list[Any] = next(filter(None, traces), [])
        threads = [thread for item in trace for thread in getattr(item, "threads", [item])]  # 3.15 has interpreters
        return {thread.thread_id: tuple(thread.frame_info) for thread in threads if thread.frame_info}


def _tried(read: Callable[[], Any]) -> Any:
    """Return what it reads of the process; None where memory changed meanwhile, or is another program's by now."""
    try:
        return read()
    except (RuntimeError, UnicodeDecodeError, MemoryError):
        return None
    except (PermissionError, ProcessLookupError):
        raise
    except OSError:  # what was a pointer is none any more
        return None


def _unwinder(pid: int) -> Any:
    from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found]

    return RemoteUnwinder(pid, all_threads=True)


def _lineless(stacks: dict[int, Key]) -> set[Any]:
    return {info for stack in stacks.values() for info in stack if _line(info) < 0}


def _line(info: Any) -> int:
    return getattr(getattr(info, "location", info), "lineno", 0) or 0  # 3.15 has a location


class Asked:
    """Stacks that a thread of the process tells: stacks.py."""

    name = "sys._current_frames"

    def __init__(self, config: dict[str, Any]) -> None:
        self._ask, self._answers = config["ask"], os.fdopen(config["answer"], "rb")
        self._known: dict[int, tuple[Frame, ...]] = {}
        self._is_asked = False
        self._waiting = select.poll()
        self._waiting.register(self._answers, select.POLLIN)

    def stacks(self, tids: list[int]) -> dict[int, Key]:
        """Return of each thread the number of its stack; of none while the answer to an earlier question is due."""
        if self._is_asked and self._heard() is None:
            return {}
        os.write(self._ask, json.dumps(tids).encode())
        self._is_asked = True
        at = self._heard() or {}
        return {int(tid): (number,) for tid, number in at.items()}

    def frames(self, key: Key) -> tuple[Frame, ...]:
        """Return the frames of a stack, the innermost first."""
        return self._known[key[0]]

    def _heard(self) -> dict[str, int] | None:
        """Return its answer, if it comes in time: a call that keeps the GIL keeps it from answering."""
        if not self._waiting.poll(ANSWER_DEADLINE_MS):
            return None
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise ProcessLookupError("the process has ended")
        answer: dict[str, Any] = json.loads(line)
        self._known |= {number: tuple(map(tuple, frames)) for number, frames in answer["new"]}
        self._is_asked = False
        at: dict[str, int] = answer["at"]
        return at
