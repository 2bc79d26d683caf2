"""The terminal that reports are printed on."""

import os
import sys
from typing import IO

from rich.console import Console

PIPED_WIDTH = 80


def terminal(stream: IO[str] | None = None) -> Console:
    """A console on *stream* (standard output, if none is given): 80 columns wide where it is no terminal.

    rich alone would ask standard input and standard error for a width when output is piped. COLUMNS and
    NO_COLOR are heeded; no control codes go to what is no terminal.
    """
    stream = stream or sys.stdout
    asked = os.environ.get("COLUMNS", "").isdigit()
    return Console(file=stream, highlight=False, width=None if stream.isatty() or asked else PIPED_WIDTH)
