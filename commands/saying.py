"""What commands say beside their result: notes on standard error, paths as the user would write them."""

import sys
from pathlib import Path


def note(text: str) -> None:
    """One line beside the result, on standard error."""
    print(text, file=sys.stderr)


def short(path: Path) -> Path:
    """*path* from the current folder, where it lies in it."""
    return path.resolve().relative_to(Path.cwd()) if path.resolve().is_relative_to(Path.cwd()) else path
