"""The command native: build the native programs and extensions."""

from collections.abc import Iterable, Iterator, Sequence

from commands.output import output
from core.errors import BadInput
from core.messages import Message, message
from lab.native import programs, wheels
from lab.python import interpreters

FOR_RUNTIMES = ("3.11", "3.14", "3.14t")


def main(arguments: Sequence[str]) -> int:
    """Run the command `native`, which builds native programs and extensions. Return its exit
    status.

    The status is 0, or 1 if a build failed although its tools are installed.
    """
    known = (*programs.BUILDS, *wheels.EXTENSIONS)
    parser = output.parser("native", arguments)
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
    for what, why_not in _built(names):
        output.print_line("{what}: {outcome}", what=what, outcome=why_not or message("built"))
        broken |= why_not.code == programs.BROKEN
    return 1 if broken else 0


def _built(names: Iterable[str]) -> Iterator[tuple[str | Message, Message]]:
    native = [name for name in names if name in programs.BUILDS]
    extensions = [name for name in names if name in wheels.EXTENSIONS]
    if native:
        yield from programs.make(native)
    if extensions:
        yield from wheels.make(extensions, interpreters.find(FOR_RUNTIMES).values())
