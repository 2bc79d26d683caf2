"""Whatever users see of a run is what it was: facts, and rendered texts in every language. `make golden` updates it."""

import difflib
import os
from pathlib import Path
from shutil import rmtree

import pytest

from tests.golden.rendered import outputs
from tests.golden.runs import DOCUMENTS, RUNS

KEPT = Path(__file__).with_name("kept")
UPDATES = os.environ.get("GOLDEN") == "update"
MOST_LINES = 120


@pytest.mark.parametrize("name", [*RUNS, *DOCUMENTS])
def test_outputs_are_what_they_were(name: str) -> None:
    folder, made = KEPT / name, outputs(name)
    if UPDATES:
        update(folder, made)
    kept = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.txt")}
    changes = [
        line for file in sorted({*made, *kept}) for line in changed(f"{name}/{file}", kept.get(file), made.get(file))
    ]
    shown = "\n".join(changes[:MOST_LINES])
    assert not changes, f"{shown}\n{len(changes)} lines. If these changes are meant, run: make golden"


def changed(file: str, before: str | None, after: str | None) -> list[str]:
    """Return the lines of a unified diff."""
    old, new = ((text or "").splitlines() for text in (before, after))
    return list(difflib.unified_diff(old, new, f"kept/{file}", f"{file} now", lineterm="", n=1))


def update(folder: Path, made: dict[str, str]) -> None:
    """Write what is made now, and remove what is not made any more."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file, text in made.items():
        (folder / file).write_text(text, encoding="utf-8")


def test_no_run_is_kept_that_is_not_made() -> None:
    assert {path.name for path in KEPT.iterdir()} == {*RUNS, *DOCUMENTS}
