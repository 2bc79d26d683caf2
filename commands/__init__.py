"""What `python runner.py COMMAND` does: one file a command, each with a main(arguments) that gives the exit status.

The file's docstring is what --help says. chosen, saying and run are no words of the command line: what a run is made
of, what it says, and the run itself, which needs no word.
"""

import importlib
from collections.abc import Callable, Sequence
from functools import cache

Command = Callable[[Sequence[str]], int]

NAMES = (
    "init",
    "runtimes",
    "plan",
    "serve",
    "report",
    "list",
    "compare",
    "export",
    "doctor",
    "audit",
    "native",
    "setup",
)


@cache
def find(name: str) -> Command:
    """The command of that name."""
    main: Command = importlib.import_module(f"{__name__}.{name}").main
    return main


def summaries() -> str:
    """A line for each command, for --help."""
    return "\n".join(f"  {name:>8}  {_docstring(name).splitlines()[0]}" for name in NAMES)


def _docstring(name: str) -> str:
    return importlib.import_module(f"{__name__}.{name}").__doc__ or ""
