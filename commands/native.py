"""The command native: build the native programs and extensions.

lab/native_builds.py builds programs, and extension modules for each Python. It yields pairs while
it builds: what was built, and why the build failed or NOTHING.
"""

from collections.abc import Sequence

from commands.output import output
from core.messages import BadInput, message
from lab import native_builds
from lab.python import interpreters

# extensions are built for those of these runtimes that are installed
FOR_RUNTIMES = ("3.11", "3.14", "3.14t")


def main(arguments: Sequence[str]) -> int:
    """Run the command `native`, which builds native programs and extensions. Return its exit
    status.

    The status is 0, or 1 if a build failed although its tools are installed.
    """
    known = (*native_builds.BUILDS, *native_builds.EXTENSIONS)
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
    broken = False
    runtimes = interpreters.find(FOR_RUNTIMES)
    for what, why_not in native_builds.make(names, runtimes.values()):
        output.print_line("{what}: {outcome}", what=what, outcome=why_not or message("built"))
        # a build whose tools are missing is no failure
        broken |= why_not.code == native_builds.BROKEN
    return 1 if broken else 0
