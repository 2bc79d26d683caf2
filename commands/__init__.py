"""Find the commands of `python runner.py COMMAND`. The main() of a command's module returns the
exit status.

The modules chosen, estimate, output, project, running and surroundings are no commands. The command
run has no word of its own.
"""

import importlib
from collections.abc import Callable, Sequence

from core.messages import message

Command = Callable[[Sequence[str]], int]

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
    """Return the main function of the command *name*."""
    main: Command = importlib.import_module(f"{__name__}.{name}").main
    return main
