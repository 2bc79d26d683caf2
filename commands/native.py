"""Build the native programs and extensions, or those named; say what a missing toolchain keeps away."""

from collections.abc import Iterable, Iterator, Sequence

from config import flags
from core.errors import BadInput
from core.messages import Message
from lab.native import programs, wheels
from lab.python import interpreters

FOR_RUNTIMES = ("3.11", "3.14", "3.14t")


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, or 1 where something could not be built although its tools are here."""
    parser = flags.Parser(prog="runner.py native", description=__doc__)
    known = (*programs.BUILDS, *wheels.EXTENSIONS)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"of {', '.join(known)} (default: all)")
    names = parser.parse_args(arguments).names or known
    for name in names:
        if name not in known:
            raise BadInput(f"{name!r} is not a native program or extension; accepted are {', '.join(known)}.")
    broken = False
    for what, why_not in _made(names):
        print(f"{what}: {why_not or 'built'}", flush=True)
        broken |= why_not.code == programs.BROKEN
    return 1 if broken else 0


def _made(names: Iterable[str]) -> Iterator[tuple[str | Message, Message]]:
    native = [name for name in names if name in programs.BUILDS]
    extensions = [name for name in names if name in wheels.EXTENSIONS]
    if native:
        yield from programs.make(native)
    if extensions:
        yield from wheels.make(extensions, interpreters.find(FOR_RUNTIMES).values())
