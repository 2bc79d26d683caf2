"""The command setup: runtimes and environments. `make setup` calls it."""

from collections.abc import Sequence

from commands.output import output_for
from config.flags import Parser
from core.messages import message
from lab.python import interpreters
from lab.run.feasible import prepare
from lab.run.runtimes import present

SUMMARY = message("Find or install the runtimes, and make the environments that systems need.")
SETUP_RUNTIMES = ("3.11", "3.14", "3.14t")


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, also where some are missing."""
    output = output_for(arguments)
    Parser("setup", SUMMARY, output.language).parse(arguments)
    absent = [name for name in SETUP_RUNTIMES if name not in interpreters.find(SETUP_RUNTIMES)]
    for line in interpreters.install(absent):
        output.note(line)
    runtimes = present(SETUP_RUNTIMES, interpreters.find(SETUP_RUNTIMES))
    for name, runtime in runtimes.items():
        version, path = runtime.interpreter.facts["version"], str(runtime.interpreter.executable)
        output.note(message("Runtime {name}: {version} at {path}", name=name, version=version, path=path))
    for line in prepare(runtimes):
        output.note(line)
    return 0
