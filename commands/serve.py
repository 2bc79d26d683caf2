"""Start the services of one cell and print their addresses, until Ctrl-C or end of input."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from commands.chosen import found_runtimes
from config import flags
from core.errors import BadInput
from lab.places import REPOSITORY
from lab.run.children import Children
from lab.run.measure import Bench, start_services
from lab.run.sandbox import Sandbox


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    parser = flags.Parser(prog="runner.py serve", description=__doc__)
    flags.add_plan_flags(parser)
    given = vars(parser.parse_args(arguments))
    asked = flags.plan_from(given)
    found, _ = found_runtimes(asked.runtimes[:1] if given["runtime"] is None else asked.runtimes, given)
    cells = replace(asked, runtimes=tuple(found)).cells()
    if len(cells) != 1:
        raise BadInput(
            f"serve starts the services of one cell, and these flags make {len(cells)}; "
            "give one value to each, such as: --system 4 --runtime 3.14t --num-multi-socket 1"
        )
    with Sandbox() as sandbox, Children(sandbox, str(REPOSITORY)) as children:
        for addresses in start_services(cells[0], children, Bench(sandbox=sandbox, runtimes=found)):
            print(*addresses, sep="\n", flush=True)
        try:
            children.watch_until_end_of(sys.stdin or open(os.devnull))  # noqa: SIM115
        except KeyboardInterrupt:
            pass
    return 0
