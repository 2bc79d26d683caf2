"""The command setup: install Python runtimes and the packages of systems. `make setup` calls this
command.

It is best effort: what cannot be installed is a note, and a run says again what it lacks.
"""

from collections.abc import Sequence

from commands.output import output
from core.messages import message
from core.runtime import RuntimeName
from lab.python import interpreters
from lab.run.feasible import prepare
from lab.run.measured_runtimes import present

# the runtimes that are set up if no argument names others
SETUP_RUNTIMES = tuple(map(RuntimeName, ("3.11", "3.14", "3.14t")))


def main(arguments: Sequence[str]) -> int:
    """Run the command setup. Return its exit status: 0, even if a runtime is missing."""
    parser = output.parser("setup")
    parser.add_names(
        "runtimes",
        message(
            "Runtimes to find or install, such as 3.14.6t (default: {names}).", names=SETUP_RUNTIMES
        ),
        "*",
    )
    names = tuple(map(RuntimeName, parser.parse(arguments)["runtimes"])) or SETUP_RUNTIMES
    absent = [name for name in names if name.binary not in interpreters.find(names)]
    for line in interpreters.install(absent):
        output.note(line)
    # found again, because there may be new interpreters now
    runtimes = present(names, interpreters.find(names))
    for name, runtime in runtimes.items():
        version, path = runtime.interpreter.facts["version"], str(runtime.interpreter.executable)
        output.note("Runtime {name}: {version} at {path}", name=name, version=version, path=path)
    for line in prepare(runtimes):
        output.note(line)
    return 0
