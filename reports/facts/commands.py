"""The command of a run as one types it: to repeat it, to go on with it, to add something. Pure."""

import shlex
from itertools import pairwise

from core.program import PROGRAM, RUNS_FOLDER
from core.result import Run
from core.runtime import NATIVE

ALL_RUNTIMES = "3.11,3.14,3.14t+gil,3.14t"


def command_line(run: Run, *without: str) -> str:
    """The command that began the run, as one types it, but for the flags *without* and the folder."""
    arguments = run.command or ["runner.py"]
    dropped = ("--out", *without)
    kept = [
        argument
        for before, argument in pairwise(["", *arguments])
        if before not in dropped and argument.partition("=")[0] not in dropped
    ]
    return shlex.join(["python", *kept] if kept[0].endswith(".py") else kept)


def repeat_command(run: Run) -> str:
    """The command that measures the same cells in the same order again."""
    command = command_line(run)
    return command if " --seed" in command else f"{command} --seed {run.seed}"


def resume_command(run: Run) -> str:
    """The command that goes on with the run, in the folder that it was begun in."""
    return shlex.join([*PROGRAM.split(), "--resume", folder(run)])


def more_blocks_command(run: Run, blocks: int) -> str:
    """The command that adds so many blocks to the run: what it has measured stays, and its p bears the look."""
    return f"{resume_command(run)} --blocks +{blocks}"


def all_runtimes_command(run: Run) -> str:
    """The command that measures every step; native programs have no other runtime, so there it is an experiment's."""
    if set(run.plan["runtimes"]) <= {NATIVE}:
        return f"{PROGRAM} --experiment evidence"
    return f"{command_line(run, '--runtime')} --runtime {ALL_RUNTIMES}"


def folder(run: Run) -> str:
    """Where the run was written: what --out said, else its place under the folder of runs."""
    for before, argument in pairwise(["", *run.command]):
        if before == "--out":
            return argument
        if argument.startswith("--out="):
            return argument.removeprefix("--out=")
    return f"{RUNS_FOLDER}/{run.run_id}"
