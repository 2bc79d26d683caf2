"""Which version of gilscope measured: the commit of its working tree."""

import os
from pathlib import Path
from subprocess import TimeoutExpired

from lab.places import REPOSITORY
from lab.processes import run

CHANGED = "+changes"
DIGITS = 12
LONGEST_S = 5.0


def commit(folder: Path = REPOSITORY) -> str | None:
    """The commit that *folder* is at, 12 digits, with "+changes" where tracked files differ from it.

    None where git is missing or *folder* is no working tree of its own: an unpacked archive may lie in another's.
    """
    lines = (_git(folder, "rev-parse", "--show-toplevel", "HEAD") or "").split("\n")
    if len(lines) != 2:
        return None
    top, digits = lines
    if Path(top).resolve() != folder.resolve():
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return digits[:DIGITS] + (CHANGED if changes else "")


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, without taking its locks; None if it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = run(["git", "-C", str(folder), *arguments], LONGEST_S, {**environment, "GIT_OPTIONAL_LOCKS": "0"})
    except (OSError, TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
