"""The command of a run as one types it: to repeat it, to go on with it, to add something. Pure."""

import shlex
from itertools import pairwise

from core.program import PROGRAM, RUNS_FOLDER
from core.result import Run
from core.runtime import NATIVE

ALL_RUNTIMES = "3.11,3.14,3.14t+gil,3.14t"


def command_line(run: Run, *without: str) -> str:
    """Return the command that began the run, as one types it, but for the flags *without* and the folder."""
    arguments = run.command or ["runner.py"]
    dropped = ("--out", *without)
    kept = [
        argument
        for before, argument in pairwise(["", *arguments])
        if before not in dropped and argument.partition("=")[0] not in dropped
    ]
    return shlex.join(["python", *kept] if kept[0].endswith(".py") else kept)


def repeat_command(run: Run) -> str:
    """Return the command that measures the same cells in the same order again."""
    command = command_line(run)
    return command if " --seed" in command else f"{command} --seed {run.seed}"


def resume_command(run: Run) -> str:
    """Return the command that goes on with the run, in the folder that it was begun in: --out, or that of its name."""
    words = [word for argument in run.command for word in argument.split("=", 1)]
    folder = words[words.index("--out") + 1] if "--out" in words[:-1] else f"{RUNS_FOLDER}/{run.run_id}"
    return shlex.join([*PROGRAM.split(), "--resume", folder])


def more_blocks_command(run: Run, blocks: int) -> str:
    """Return the command that adds so many blocks to the run: what it has measured stays, and its p bears the look."""
    return f"{resume_command(run)} --blocks +{blocks}"


def all_runtimes_command(run: Run) -> str:
    """Return the command that measures every step: an experiment's if all of the run is native programs."""
    if set(run.plan["runtimes"]) <= {NATIVE}:
        return f"{PROGRAM} --experiment evidence"
    return f"{command_line(run, '--runtime')} --runtime {ALL_RUNTIMES}"
