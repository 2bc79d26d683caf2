"""Two readers of the stacks of all threads of another process, for the stack sampler."""

import json
import os
import select
from collections.abc import Callable
from typing import Any

from core.inside.stacks_threads import Frame

MOST_FRAMES = 100
MOST_READS = 5  # attempts, because stacks may change while they are read
ANSWER_DEADLINE_MS = 1000

Key = tuple[Any, ...]  # identifies a stack for its reader


class RemoteReader:
    """A reader that reads stacks from outside the process, for Python 3.14 and later.

    On a free-threaded build, a thread's copy of a function's bytecode may be newer than the unwinder's cache. Then the
    line is negative, or reading fails ("Invalid tlbc_index"), until a new unwinder is made. Frames that have no line
    even then are remembered, so that they do not cause another unwinder.
    """

    name = "_remote_debugging"

    def __init__(self, config: dict[str, Any]) -> None:
        self._pid = config["pid"]
        self._unwinder = _unwinder(self._pid)
        self._lineless: set[Any] = set()

    def stacks(self, tids: list[int]) -> dict[int, Key]:
        """Return the stack of each thread; {} if the memory changed while it was read."""
        stacks = self._read()
        if not stacks or _lineless(stacks) - self._lineless:
            self._unwinder = _or_none(lambda: _unwinder(self._pid)) or self._unwinder
            stacks = self._read()
            self._lineless |= _lineless(stacks)
        return stacks

    def frames(self, key: Key) -> tuple[Frame, ...]:
        """Return the frames of a stack, innermost frame first."""
        return tuple((info.filename, max(0, _line(info)), info.funcname) for info in key[:MOST_FRAMES])

    def _read(self) -> dict[int, Key]:
        traces = (_or_none(self._unwinder.get_stack_trace) for _ in range(MOST_READS))
        trace: list[Any] = next(filter(None, traces), [])
        threads = [thread for item in trace for thread in getattr(item, "threads", [item])]  # 3.15 has interpreters
        return {thread.thread_id: tuple(thread.frame_info) for thread in threads if thread.frame_info}


def _or_none(read: Callable[[], Any]) -> Any:
    """Return the result of *read*, or None if the process changed its memory meanwhile."""
    try:
        return read()
    except (RuntimeError, UnicodeDecodeError, MemoryError):
        return None
    except (PermissionError, ProcessLookupError):
        raise
    except OSError:  # a pointer became invalid while it was followed
        return None


def _unwinder(pid: int) -> Any:
    from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found]

    return RemoteUnwinder(pid, all_threads=True)


def _lineless(stacks: dict[int, Key]) -> set[Any]:
    return {info for stack in stacks.values() for info in stack if _line(info) < 0}


def _line(info: Any) -> int:
    return getattr(getattr(info, "location", info), "lineno", 0) or 0  # 3.15 has a location


class AskingReader:
    """A reader that asks a thread inside the process for the stacks (stacks.py)."""

    name = "sys._current_frames"

    def __init__(self, config: dict[str, Any]) -> None:
        self._ask, self._answers = config["ask"], os.fdopen(config["answer"], "rb")
        self._known: dict[int, tuple[Frame, ...]] = {}
        self._is_asked = False
        self._waiting = select.poll()
        self._waiting.register(self._answers, select.POLLIN)

    def stacks(self, tids: list[int]) -> dict[int, Key]:
        """Ask the process for its threads' stacks. Return {thread ID: key for frames()}, or {} if the answer is late.

        No new question is asked while an earlier question has no answer.
        """
        if self._is_asked and self._read_answer() is None:
            return {}
        os.write(self._ask, json.dumps(tids).encode())
        self._is_asked = True
        at = self._read_answer() or {}
        return {int(tid): (number,) for tid, number in at.items()}

    def frames(self, key: Key) -> tuple[Frame, ...]:
        """Return the frames of a stack, innermost frame first."""
        return self._known[key[0]]

    def _read_answer(self) -> dict[str, int] | None:
        """Return the process's answer, or None if no answer came in time, for example because a call holds the GIL."""
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
