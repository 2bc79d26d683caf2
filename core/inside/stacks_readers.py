"""Two ways of reading the stacks of all threads of a process, for the sampler beside it."""

import json
import os
import select
from typing import Any, NoReturn

from core.inside.stacks_threads import Frame

MOST_FRAMES = 100
MOST_READS = 5  # of stacks that change meanwhile
ANSWER_DEADLINE_MS = 1000

Key = tuple[Any, ...]  # what a reader tells a stack by


class Remote:
    """Stacks of another process, read from outside: 3.14 and later."""

    name = "_remote_debugging"

    def __init__(self, told: dict[str, Any]) -> None:
        from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found]

        self._unwinder = RemoteUnwinder(told["pid"], all_threads=True)

    def stacks(self, tids: list[int]) -> dict[int, Key]:
        """Of each thread; of none where the memory changed while it was read."""
        trace = next((trace for _ in range(MOST_READS) if (trace := self._trace())), [])
        threads = [thread for item in trace for thread in getattr(item, "threads", [item])]  # 3.15 has interpreters
        return {thread.thread_id: tuple(thread.frame_info) for thread in threads if thread.frame_info}

    def frames(self, key: Key) -> tuple[Frame, ...]:
        """The frames of a stack, the innermost first."""
        return tuple(map(_frame, key[:MOST_FRAMES]))

    def _trace(self) -> list[Any]:
        try:
            trace: list[Any] = self._unwinder.get_stack_trace()
        except (RuntimeError, UnicodeDecodeError, MemoryError):
            return []
        except (PermissionError, ProcessLookupError):
            raise
        except OSError:  # what was a pointer is none any more
            return []
        return trace


def _frame(info: Any) -> Frame:
    location = getattr(info, "location", info)  # 3.15
    return info.filename, getattr(location, "lineno", 0) or 0, info.funcname


class Asked:
    """Stacks that a thread of the process tells: stacks.py."""

    name = "sys._current_frames"

    def __init__(self, told: dict[str, Any]) -> None:
        self._ask, self._answer = told["ask"], told["answer"]
        self._known: dict[int, tuple[Frame, ...]] = {}
        self._rest, self._is_asked = b"", False
        self._waiting = select.poll()
        self._waiting.register(self._answer, select.POLLIN)

    def stacks(self, tids: list[int]) -> dict[int, Key]:
        """Of each thread, the number of its stack."""
        if self._is_asked and self._heard() is None:
            return {}  # it still owes the answer to an earlier question
        os.write(self._ask, json.dumps(tids).encode())
        self._is_asked = True
        at = self._heard() or {}
        return {int(tid): (number,) for tid, number in at.items()}

    def frames(self, key: Key) -> tuple[Frame, ...]:
        """The frames of a stack, the innermost first."""
        return self._known[key[0]]

    def _heard(self) -> dict[str, int] | None:
        """Its answer, if it comes in time: a call that keeps the GIL keeps it from answering."""
        while b"\n" not in self._rest:
            if not self._waiting.poll(ANSWER_DEADLINE_MS):
                return None
            self._rest += os.read(self._answer, 1 << 20) or _ended()
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        self._known |= {number: tuple(map(tuple, frames)) for number, frames in answer["new"]}
        self._is_asked = False
        at: dict[str, int] = answer["at"]
        return at


def _ended() -> NoReturn:
    raise ProcessLookupError("the process has ended")
