"""The messages between the runner and the agent on a host. A message is a line: MARK, and a JSON
object.

The runner says what the agent is to do: {"do": "write", "number": 1, "text": "go"} (see
lab/hosts/agent.py). The agent answers "clock" with its time, and "start" with the child's pid,
under the same number: {"number": 1, "answer": 812}, or {"number": 1, "error": "..."}. It passes on
what child 1 writes, {"number": 1, "out": "..."}, with an empty text at the end, and its exit,
{"number": 1, "status": 0}.
lab/hosts/connection.py is the runner's side, and lab/hosts/remote_process.py has the type of the
agent's messages. The runner sends the agent's code, so both sides always have the same version.
"""

import json
from typing import Any

from lab.process_output import HeadTailBuffer

MARK = b"gilscope "  # the script of lab/hosts/carrier.py has it, too
# error handler by which bytes that are no UTF-8 become text, and the same bytes again
BYTES = "surrogateescape"
PIECE_BYTES = 64 << 10  # the most that one message carries of a stream
MOST_BYTES = 1 << 20  # the longest message: a byte of a stream may become six characters
LEASE_S = 6  # a side that sends nothing for this time is considered gone; an int for alarm(2)
BEAT_S = 2.0  # how often the runner asks for the time; much shorter than LEASE_S


def encoded(**fields: Any) -> bytes:
    """Return one message of the protocol."""
    return MARK + json.dumps(fields).encode() + b"\n"


class MessageReader:
    """A parser that splits a stream of bytes into messages.

    noise: the other lines of the stream since the last message, such as the output of a login shell
    """

    def __init__(self) -> None:
        self._unread = bytearray()
        self.noise = HeadTailBuffer()

    def feed(self, data: bytes) -> list[Any]:
        """Add received bytes, and return the messages that are now complete. Raises ValueError for
        bad JSON, and RecursionError for deep nesting.
        """
        messages = []
        self._unread += data
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            if line.startswith(MARK):
                messages.append(json.loads(line.removeprefix(MARK)))
                self.noise = HeadTailBuffer()
            else:
                self.noise.add(bytes(line) + b"\n")
        if len(self._unread) > MOST_BYTES:
            raise ValueError(repr(bytes(self._unread[:60])))
        return messages
