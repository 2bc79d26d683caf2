"""The console on which reports are printed, and line breaks that suit Chinese text.

Commands print sections, tables and lists on terminal(), and progress.py beside this module prints
its display there. terminal.py and listing.py break lines with wrapped(). The list of runs needs
this module alone, so it imports nothing that computes or draws. The import registers the error
handler "spelled" for all codecs of the process.
"""

import codecs
import os
import re
import sys
from io import TextIOWrapper
from typing import IO, Any, cast

from rich.cells import cell_len
from rich.console import Console

PIPED_WIDTH = 80  # columns, if the output is no terminal and COLUMNS is not set
WIDE = r"\u2e80-\uffef"  # part of a regular expression: characters of two columns
MARKS = "，。；：、）”"  # never at the start of a line
SPELLINGS = {
    "→": "->",
    "×": "x",
    "±": "+/-",
    "·": "-",
    "▲": "^",
    "▼": "v",
}  # of signs that a stream cannot encode


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Return how a stream shows a character that it cannot encode, and the place after the
    character.
    """
    assert isinstance(error, UnicodeEncodeError)
    return SPELLINGS.get(error.object[error.start], "?"), error.start + 1


codecs.register_error("spelled", _spelled)


class _Trimmed:
    """A stream that is no terminal, to which lines are written without blanks at their ends."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(re.sub(" +\n", "\n", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def terminal(stream: IO[str] | None = None) -> Console:
    """Return a console on *stream* (standard output by default), 80 columns wide if the stream is
    not a terminal. The error handler of a stream that is not UTF is changed to "spelled".

    The width is set because rich would otherwise take it from standard input or standard error when
    output is piped. COLUMNS and NO_COLOR are respected. Control codes are written to terminals
    only. Characters that the stream cannot encode are spelled in ASCII (SPELLINGS) or become
    question marks.
    """
    stream = stream or sys.stdout
    if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
        stream.reconfigure(errors="spelled")
    if stream.isatty():
        return Console(file=stream, highlight=False)
    width = None if os.environ.get("COLUMNS", "").isdigit() else PIPED_WIDTH
    return Console(file=cast("IO[str]", _Trimmed(stream)), highlight=False, width=width)


def wrapped(text: str, width: int) -> str:
    """Return *text* in lines of at most *width* columns. Chinese characters are 2 wide; lines may
    break after each.
    """
    lines, line = [""], 0
    for word in _words(" ".join(text.split())):
        columns = cell_len(word.rstrip())
        if lines[-1] and line + columns > width:
            lines.append("")
            line = 0
        lines[-1] += word
        line += cell_len(word)
    return "\n".join(one.rstrip() for one in lines)


def _words(text: str) -> list[str]:
    """Split *text* after each word and each wide character, including the punctuation and space
    that follow.
    """
    return re.findall(rf"(?:[^\s{WIDE}]+|[{WIDE}])[{MARKS}]* *", text)
