"""The commands of `python runner.py COMMAND`: one file each, with a main(arguments) that returns the exit status.

chosen, output, project and surroundings are parts of commands. run is the command that needs no word.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from core.messages import message

Command = Callable[[Sequence[str]], int]

SUMMARIES = {
    "init": message("Write a commented plan for a service of your own, after three questions or from flags."),
    "runtimes": message("Show the interpreters that are installed, and how they were built."),
    "hosts": message("Look at the hosts of a run: whether they can be used, what is there, and their links."),
    "plan": message("Print the cells that a run with these flags would measure, and about how long; run nothing."),
    "serve": message("Start the services of one cell and print their addresses, until Ctrl-C or end of input."),
    "report": message("Make the page, tables and plots of saved runs again; several runs also side by side."),
    "list": message("Show the saved runs, newest first, with the verdict of each."),
    "compare": message("Compare two saved runs, or pyperf files: is B faster or slower than A?"),
    "export": message(
        "Write a saved run for other tools: pyperf JSON, Parquet, CSV, HdrHistogram percentiles, Markdown."
    ),
    "doctor": message("Show what disturbs measurements on this machine, and what to do about it."),
    "audit": message(
        "Find packages that turn the GIL back on, have no wheel, fail or warn under the free-threaded build."
    ),
    "stress": message("Look for answers that are wrong, crashes and hangs that a service has only without the GIL."),
    "native": message("Build the native programs and extensions, or those named; say which toolchains are missing."),
    "setup": message("Find or install the runtimes, and make the environments that systems need."),
    "completion": message("Print what makes a shell complete commands and flags: bash, zsh, fish, tcsh or powershell."),
}
NAMES = tuple(SUMMARIES)


def find(name: str) -> Command:
    """Return the command of that name."""
    main: Command = module(name).main
    return main


def module(name: str) -> Any:
    """Import the file of a command."""
    return importlib.import_module(f"{__name__}.{name}")
