"""Find or install the runtimes, and make the environments that systems need. `make setup` calls it."""

from collections.abc import Sequence

from commands.saying import note
from config import flags
from lab.python import interpreters
from lab.run.feasible import prepare
from lab.run.runtimes import present

SETUP_RUNTIMES = ("3.11", "3.14", "3.14t")


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, also where some are missing."""
    flags.Parser(prog="runner.py setup", description=__doc__).parse_args(arguments)
    absent = [name for name in SETUP_RUNTIMES if name not in interpreters.find(SETUP_RUNTIMES)]
    for line in interpreters.install(absent):
        note(str(line))
    found = present(SETUP_RUNTIMES, interpreters.find(SETUP_RUNTIMES))
    for name, runtime in found.items():
        note(f"Runtime {name}: {runtime.interpreter.facts['version']} at {runtime.interpreter.executable}")
    for line in prepare(found):
        note(str(line))
    return 0
