"""Show the interpreters that were found, and what they are."""

import json
from collections.abc import Sequence

from commands.chosen import found_runtimes
from config import flags
from config.load import parse_runtimes
from config.plan import DEFAULT_RUNTIMES
from lab.python import interpreters
from lab.run.runtimes import Runtime


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0, also where some are missing."""
    parser = flags.Parser(prog="runner.py runtimes", description=__doc__)
    flags.add_runtime_flags(parser)
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    given = vars(parser.parse_args(arguments))
    names = parse_runtimes(given["runtime"]) if given["runtime"] else DEFAULT_RUNTIMES
    found, _ = found_runtimes(names, given)
    if given["json"]:
        print(json.dumps({name: one.to_json() for name, one in found.items()}, indent=2))
        return 0
    from reports.terminal.console import terminal
    from reports.terminal.inventory import print_runtimes

    used = [one.interpreter for one in found.values() if isinstance(one, Runtime)]
    alternatives = [*interpreters.all_found(), *(other for one in used for other in one.alternatives)]
    others = {
        f"{one.name} at {one.executable}": one.facts
        for one in alternatives
        if one.executable not in [interpreter.executable for interpreter in used]
    }
    print_runtimes({name: one.to_json() for name, one in found.items()}, others, terminal())
    return 0
