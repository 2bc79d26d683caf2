"""What `python runner.py COMMAND` does: one file a command, each with a main(arguments) that gives the exit status."""

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
    return "\n".join(f"  {name:>8}  {(find(name).__doc__ or '').splitlines()[0]}" for name in NAMES)
