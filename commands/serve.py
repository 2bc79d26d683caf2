"""The command serve: the services of one cell, for profilers and other clients."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from commands.chosen import present_runtimes
from commands.output import output_for
from config import flags
from config.hosts import expect_here
from core.errors import BadInput
from lab.places import REPOSITORY
from lab.run.beside import standing
from lab.run.cell_run import Bench, start_services
from lab.run.children import Children
from lab.run.sandbox import Sandbox


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    output = output_for(arguments)
    parser = output.parser("serve")
    flags.add_plan_flags(parser)
    given = parser.parse(arguments)
    plan = flags.plan_from(given)
    expect_here(plan, "serve")
    names = plan.runtimes[:1] if given["runtime"] is None else plan.runtimes
    runtimes, _ = present_runtimes(names, given, output)
    entries = replace(plan, runtimes=tuple(runtimes), aa=False).entries()
    if len(entries) != 1:
        raise BadInput(
            "serve starts the services of one cell, but these flags make {count}; give one value to each, such as: "
            "--system 4 --runtime 3.14t --num-multi-socket 1",
            count=len(entries),
        )
    with (
        Sandbox() as sandbox,
        standing(plan, runtimes) as beside,
        Children(sandbox, str(REPOSITORY)) as children,
    ):
        bench = Bench(sandbox=sandbox, runtimes=runtimes, beside=beside)
        for addresses in start_services(entries[0].cell, entries[0].system, children, bench):
            print(*addresses, sep="\n", flush=True)
        try:
            children.watch_until_end_of(sys.stdin or open(os.devnull))  # noqa: SIM115
        except KeyboardInterrupt:
            pass
    return 0
