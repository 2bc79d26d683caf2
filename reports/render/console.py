"""The terminal that reports are printed on."""

import os
import re
import sys
from io import TextIOWrapper
from typing import IO

from rich.cells import cell_len
from rich.console import Console

PIPED_WIDTH = 80
WIDE = r"\u2e80-\uffef"
MARKS = "，。；：、）”"


def terminal(stream: IO[str] | None = None) -> Console:
    """A console on *stream* (standard output, if none is given): 80 columns wide where it is no terminal.

    rich alone would ask standard input and standard error for a width when output is piped. COLUMNS and
    NO_COLOR are heeded; no control codes go to what is no terminal. A sign that the stream's encoding does not
    have becomes a question mark.
    """
    stream = stream or sys.stdout
    if isinstance(stream, TextIOWrapper) and not _is_unicode(stream.encoding):
        stream.reconfigure(errors="replace")
    asked = os.environ.get("COLUMNS", "").isdigit()
    return Console(file=stream, highlight=False, width=None if stream.isatty() or asked else PIPED_WIDTH)


def shows_unicode(console: Console) -> bool:
    """Whether *console* can show block elements, by the encoding of its stream."""
    return _is_unicode(console.encoding)


def _is_unicode(encoding: str) -> bool:
    return encoding.lower().startswith("utf")


def wrapped(text: str, width: int) -> str:
    """*text* in lines of at most *width* columns; a Chinese sign takes two, and a line may end behind any of them."""
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
    """What a line may end behind: a word or a wide sign, with its space and the marks that must not begin a line."""
    return re.findall(rf"(?:[^\s{WIDE}]+|[{WIDE}])[{MARKS}]* *", text)
