"""The command line that measures: read its flags, and begin or continue a run.

runner.py calls main() if the first word is no command. running.py has the steps of a run.
"""

from collections.abc import Sequence

import commands
from commands.output import output, short
from config import flags
from config import plan_options as options
from core.messages import BadInput, message
from core.program import ROOT

SUMMARY = message("Measure what the free-threaded build of CPython does to a threaded service.")


def main(arguments: Sequence[str]) -> int:
    """Measure and report a run. Return the exit status.

    0: every cell was measured, and the report is complete
    3: the last runtime is slower than the first by more than the plan allows
    1: otherwise
    """
    parser = flags.Parser("", SUMMARY, output.language, _epilog())
    flags.add_run_flags(parser)
    parser.add_group("the run", *options.OF_A_RUN)
    given = parser.parse(arguments)
    from commands.running import (
        begin,
        resume,
    )  # after --help, which needs nothing of what a run needs

    if given["resume"] is not None:
        return resume(given, parser)
    if given["accept_changes"]:
        raise BadInput(
            "--accept-changes works only with --resume. Leave --accept-changes out when you "
            "start a new run."
        )
    return begin(given, arguments)


def _epilog() -> str:
    """Return the last part of the --help text: one line per command, and the documentation's
    folder.
    """
    lines = [
        f"  {name:<10}  {output.text(summary)}" for name, summary in commands.SUMMARIES.items()
    ]
    head = output.text(message("commands (each has its own --help):"))
    pages = output.text(message("documentation: {folder}", folder=short(ROOT / "docs")))
    return "\n".join([head, *lines, "", pages])
