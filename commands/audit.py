"""The command audit: find packages that are not ready for the free-threaded build."""

import json
from collections.abc import Sequence
from pathlib import Path

from commands.output import output
from config.options import Option
from config.plan_options import JSON
from core.errors import BadInput
from core.messages import SENTENCES, chained
from core.runtime import RuntimeName
from lab.gil.audit import audit, exit_status, read_requirements, to_document
from lab.python import interpreters
from lab.python.interpreters import Interpreter

DEFAULT_RUNTIME = "3.14t"
PACKAGES = (
    Option(
        "-r/--requirement FILE",
        "The packages to check, from a requirements file, pyproject.toml, uv.lock, pylock.toml or project "
        "folder (default: the current folder).",
    ),
    Option("--package NAME", "A package to check, such as numpy.", repeated=True),
)
RUNTIME = Option("--runtime NAME", "The free-threaded build that the packages must support (default: 3.14t).")
BUILD = Option("--build", "Build each package that has no wheel from its source, and then import it.")


def main(arguments: Sequence[str]) -> int:
    """Run the command audit. Return its exit status: 0, or 3 if a package is not ready for the free-threaded build."""
    from reports.render.markdown import markdown
    from reports.terminal.audit import audit_document

    parser = output.parser("audit", arguments)
    parser.add_group("what to audit", *PACKAGES, exclusive=True)
    parser.add_group("options", RUNTIME, BUILD, JSON)
    flags = parser.parse(arguments)
    interpreter = _interpreter(RuntimeName(flags["runtime"] if flags["runtime"] is not None else DEFAULT_RUNTIME))
    asked = read_requirements(flags["package"] or Path(flags["requirement"] or "."))
    findings = audit(asked, interpreter, output.note if flags["build"] else None)
    audited = to_document(findings, interpreter)
    if flags["json"]:
        print(json.dumps(audited, indent=1))
    else:
        print(markdown(audit_document(audited), output.language).rstrip("\n"))
    return exit_status(findings)


def _interpreter(name: RuntimeName) -> Interpreter:
    """Return the interpreter of the runtime *name*. Raises BadInput if it is not installed."""
    if name.native:
        raise BadInput(
            "--runtime is {name}, but audit needs a free-threaded build of Python, such as 3.14t.", name=name
        )
    interpreter = next(iter(interpreters.find([name]).values()), None)
    if interpreter is None:
        raise BadInput(chained([interpreters.missing(name), *interpreters.refused([name])], SENTENCES))
    return interpreter
