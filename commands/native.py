"""The command native: build the native programs and extensions.

lab/native/programs.py builds programs, and lab/native/wheels.py builds extension modules for each
Python. Both yield pairs while they build: what was built, and why the build failed or NOTHING.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from commands.output import output
from core.messages import BadInput, Message, message
from lab.native import programs, wheels
from lab.python import interpreters

# extensions are built for those of these runtimes that are installed
FOR_RUNTIMES = ("3.11", "3.14", "3.14t")


def main(arguments: Sequence[str]) -> int:
    """Run the command `native`, which builds native programs and extensions. Return its exit
    status.

    The status is 0, or 1 if a build failed although its tools are installed.
    """
    known = (*programs.BUILDS, *wheels.EXTENSIONS)
    parser = output.parser("native")
    parser.add_names(
        "names", message("What to build: one or more of {known} (default: all).", known=known), "*"
    )
    names = parser.parse(arguments)["names"] or known
    for name in names:
        if name not in known:
            raise BadInput(
                "{name!r} is not a native program or extension. Choose from {known}.",
                name=name,
                known=known,
            )
    built: Iterable[tuple[str | Message, Message]] = chain(
        programs.make([name for name in names if name in programs.BUILDS]),
        wheels.make(
            [name for name in names if name in wheels.EXTENSIONS],
            interpreters.find(FOR_RUNTIMES).values(),
        ),
    )
    broken = False
    for what, why_not in built:
        output.print_line("{what}: {outcome}", what=what, outcome=why_not or message("built"))
        # a build whose tools are missing is no failure
        broken |= why_not.code == programs.BROKEN
    return 1 if broken else 0
