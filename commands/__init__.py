"""What `python runner.py COMMAND` does: one file a command, each with a SUMMARY and a main(arguments).

main gives the exit status. chosen and output are no commands; run is the one that needs no word.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

Command = Callable[[Sequence[str]], int]

NAMES = (
    "init",
    "runtimes",
    "hosts",
    "plan",
    "serve",
    "report",
    "list",
    "compare",
    "export",
    "doctor",
    "audit",
    "stress",
    "native",
    "setup",
    "completion",
)


def find(name: str) -> Command:
    """The command of that name."""
    main: Command = module(name).main
    return main


def module(name: str) -> Any:
    """The file of a command."""
    return importlib.import_module(f"{__name__}.{name}")
