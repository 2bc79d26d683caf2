"""The command line that continues a saved run."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from core.messages import Json
from core.program import PROGRAM
from core.secret import from_file, secrets_in

# the flags of a request, which a file of requests can give instead
_OF_REQUESTS = {"--request", "--header", "--body", "--expect-json"}


def resume_command(folder: str | Path, command: Sequence[str], own: Json | None, *more: str) -> str:
    """Return the command line that continues the run in *folder*.

    It ends with the flags that must be given again, with "..." in place of each secret.
    command: the command line that began the run, without its secrets
    own: the user's service in the saved plan (SavedPlan.own)
    more: further words, such as "--blocks", "+3"
    """
    words = ["--resume", str(folder), *more, *_given_again(command, own)]
    return f"{PROGRAM} {shlex.join(words)}"


def _given_again(command: Sequence[str], own: Json | None) -> Iterator[str]:
    """Yield the flags of *command* that give the secrets of *own*, or name files that do."""
    # the name of a secret contains its flag
    names = " ".join(secret.name for secret in secrets_in(from_file(own)))
    needed = {word for word in names.split() if word.startswith("--")}
    if needed:
        needed.add("--plan")
    if needed & _OF_REQUESTS:
        needed.add("--requests")
    # a secret answer belongs to its request, and the address of --target to its --name
    for flag, other in (("--expect-json", "--request"), ("--target", "--name")):
        if flag in needed:
            needed.add(other)
    for before, argument in pairwise(["", *command]):
        if before in needed:
            yield from (before, argument)
        elif "=" in argument and argument.partition("=")[0] in needed:
            yield argument
