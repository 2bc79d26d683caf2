"""The command serve: start the services of one measurement, so that profilers or other clients can
use them.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from commands.chosen import find_runtimes
from commands.output import output
from config import flags
from config.host_options import expect_no_hosts
from core.errors import BadInput
from lab.folders import Sandbox
from lab.run.cell_run import CellRun
from lab.run.measurement_context import Bench
from lab.run.running_sidecars import standing


def main(arguments: Sequence[str]) -> int:
    """Run the command serve. Return its exit status: 0."""
    parser = output.parser("serve", arguments)
    flags.add_plan_flags(parser)
    given = parser.parse(arguments)
    plan = flags.plan_from(given)
    expect_no_hosts(plan, "serve")
    names = plan.runtimes[:1] if given["runtime"] is None else plan.runtimes
    runtimes, _ = find_runtimes(names, given)
    entries = replace(
        plan, runtimes=tuple(name for name in names if name in runtimes), aa=False
    ).entries()
    if len(entries) != 1:
        raise BadInput(
            "serve starts the services of one setting under one runtime, but the flags describe "
            "{count} combinations. Give each flag one value, such as: --system 4 --runtime 3.14t "
            "--num-multi-socket 1",
            count=len(entries),
        )
    with (
        Sandbox() as sandbox,
        standing(plan, runtimes) as beside,
        CellRun(
            entries[0],
            0,
            Bench(sandbox=sandbox, runtimes=runtimes, method=plan.method, inside={}, beside=beside),
        ) as run,
    ):
        for addresses in run.serve():
            print(*addresses, sep="\n", flush=True)
        try:
            run.children.watch_until_end_of(sys.stdin or open(os.devnull))  # noqa: SIM115
        except KeyboardInterrupt:
            pass
    return 0
