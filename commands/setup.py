"""Find or install the runtimes, and make the environments that systems need. `make setup` calls it."""

from collections.abc import Sequence

from commands.saying import note
from config import flags
from lab import experiment, interpreters
from lab.runtimes import present

SETUP_RUNTIMES = ("3.11", "3.14", "3.14t")


def main(arguments: Sequence[str]) -> int:
    """Find or install the runtimes, and make the environments that systems need. `make setup` calls it."""
    flags.Parser(prog="runner.py setup", description=main.__doc__).parse_args(arguments)
    absent = [name for name in SETUP_RUNTIMES if name not in interpreters.find(SETUP_RUNTIMES)]
    for line in interpreters.install(absent):
        note(line)
    found = present(SETUP_RUNTIMES, interpreters.find(SETUP_RUNTIMES))
    for name, runtime in found.items():
        note(f"Runtime {name}: {runtime.interpreter.facts['version']} at {runtime.interpreter.executable}")
    for line in experiment.prepare(found):
        note(line)
    return 0
