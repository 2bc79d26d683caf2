"""Say which packages turn the GIL back on, have no wheel, fail or warn under the free-threaded build."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from config import flags
from core.errors import BadInput
from core.runtime import RuntimeName
from lab.gil.audit import audit, document, exit_status
from lab.python import interpreters
from lab.python.interpreters import Interpreter

DEFAULT_RUNTIME = "3.14t"


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, or 3 where a package is not ready."""
    from reports.terminal.audit import audit_json, audit_markdown

    given = _parsed(arguments)
    interpreter = _interpreter(given.runtime)
    asked = given.requirement if given.requirement is not None else given.package
    findings = audit(asked, interpreter)
    made = document(findings, interpreter)
    print(audit_json(made) if given.json else audit_markdown(made).rstrip("\n"))
    return exit_status(findings)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = flags.Parser(prog="runner.py audit", description=__doc__)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("-r", "--requirement", metavar="FILE", type=Path, help="the packages of a requirements file")
    asked.add_argument("--package", metavar="NAME", action="append", help="one package, such as numpy; may be repeated")
    parser.add_argument(
        "--runtime", metavar="NAME", default=DEFAULT_RUNTIME, help=f"a free-threaded build ({DEFAULT_RUNTIME})"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser.parse_args(arguments)


def _interpreter(name: str) -> Interpreter:
    """The interpreter of a runtime's name. Raises BadInput where it is not here."""
    if RuntimeName.parse(name).native:
        raise BadInput(f"--runtime is {name}, which is no Python; audit needs a free-threaded build, such as 3.14t.")
    found = interpreters.find([name])
    if not found:
        raise BadInput(interpreters.missing(name))
    return next(iter(found.values()))
