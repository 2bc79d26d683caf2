"""Find the commands of `python runner.py COMMAND`. The main() of a command's module returns the
exit status.

This package talks to the user: a command makes a plan from flags (config/), lets lab/ measure it,
and shows results with reports/. A new command is a module with main(arguments), which gets the
words after the command, and a line in SUMMARIES. Some imports stand inside functions, because
--help and errors in flags do not need them.

The modules chosen, estimate, output, project and running are no commands. The command run has no
word of its own.
"""

import importlib
from collections.abc import Callable, Sequence

from core.messages import message

Command = Callable[[Sequence[str]], int]

# by the name of the command's module, in the order of the help
SUMMARIES = {
    "init": message("Write a plan for your own service, from its project and flags."),
    "runtimes": message("Show the installed interpreters and how they were built."),
    "hosts": message("Check the hosts of a run: access, runtimes and network links."),
    "plan": message("Print what a run would measure and how long it would take."),
    "report": message("Write the report of a saved run again."),
    "list": message("List the saved runs and their verdicts, newest first."),
    "compare": message("Compare saved runs with the first: are they faster or slower?"),
    "export": message("Export a saved run to files for pyperf."),
    "doctor": message("Show what disturbs measurements on this machine, and the fixes."),
    "audit": message("Find packages that are not ready for the free-threaded build."),
    "stress": message("Find wrong answers, crashes and hangs of services without the GIL."),
    "native": message("Build all native programs and extensions, or only some of them."),
    "setup": message("Find or install the runtimes, and install the systems' packages."),
}
NAMES = tuple(SUMMARIES)


def find(name: str) -> Command:
    """Import the module of the command *name*, a key of SUMMARIES, and return its main function."""
    main: Command = importlib.import_module(f"{__name__}.{name}").main
    return main
