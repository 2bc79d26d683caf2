"""Show what makes this machine unquiet for benchmarks, and what to do about it."""

import json
from collections.abc import Sequence

from config import flags
from lab.machine import quiet
from lab.machine.doctor import findings


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, whatever was found."""
    from reports.terminal.console import terminal
    from reports.terminal.doctor import print_findings

    parser = flags.Parser(prog="runner.py doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    given = parser.parse_args(arguments)
    facts = quiet.facts()
    if given.json:
        print(json.dumps(facts, indent=2))
    else:
        print_findings(findings(facts), terminal())
    return 0
