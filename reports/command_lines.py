"""Command lines for a saved run: to repeat it, to continue it, or to add to it.

The answer on the terminal and the section on the machine show them, to be copied into a shell.
"""

import shlex
from itertools import pairwise

from core.program import PROGRAM, RUNS_FOLDER
from record.saved_run import Run

SILENT = ("--quiet", "--json")  # a command that somebody copies must show its result


def command_line(run: Run, *without: str) -> str:
    """Return the command line that started the run, quoted for a shell, without --out, SILENT and
    the flags *without*.

    without: flags with exactly one value, which is dropped, too, written as "--flag VALUE" or
        "--flag=VALUE"
    """
    # the first word of run.command is the program
    arguments = [argument for argument in run.command[1:] if argument not in SILENT]
    dropped = ("--out", *without)
    kept = [
        argument
        for before, argument in pairwise(["", *arguments])
        if before not in dropped and argument.partition("=")[0] not in dropped
    ]
    return " ".join([PROGRAM, *map(shlex.quote, kept)])


def repeat_command(run: Run) -> str:
    """Return the command line that repeats the run's measurements, in the order of its seed."""
    command = command_line(run)
    return command if " --seed" in command else f"{command} --seed {run.seed}"


def resume_command(run: Run) -> str:
    """Return the command line that continues the run, in the default folder if none is known."""
    return f"{PROGRAM} --resume {shlex.quote(run.folder or f'{RUNS_FOLDER}/{run.run_id}')}"


def more_blocks_command(run: Run, blocks: int) -> str:
    """Return the command line that adds *blocks* blocks to the run. The measured
    blocks are kept.
    """
    return f"{resume_command(run)} --blocks +{blocks}"
