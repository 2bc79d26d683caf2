"""A shell that asks for completions, as bash does: by its variables, with a file for the answer."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab.places import REPOSITORY


def completions(line: str, folder: Path) -> set[str]:
    """What may come next on *line*, whose first word is the program."""
    variables = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_IFS": "\n"}
    answer = folder / "answer"
    subprocess.run(
        [sys.executable, REPOSITORY / "runner.py"],
        env={"PATH": "/usr/bin", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer), **variables},
        cwd=folder,
        check=True,
        timeout=60,
    )
    return {word.strip() for word in answer.read_text().split("\n")}


@pytest.mark.parametrize(
    ("line", "among"),
    [
        ("gilscope co", {"compare", "completion"}),
        ("gilscope --runt", {"--runtime"}),
        ("gilscope --experiment l", {"league", "loadgen"}),
        ("gilscope --runtime 3.14t", {"3.14t", "3.14t+gil"}),
        ("gilscope --server g", {"gunicorn", "granian"}),
        ("gilscope compare --fail", {"--fail-if-slower"}),
    ],
)
def test_what_may_come_next_is_completed(line: str, among: set[str], tmp_path: Path) -> None:
    assert completions(line, tmp_path) == among


def test_bash_takes_what_is_printed_for_it(tmp_path: Path) -> None:
    code = subprocess.run(
        [sys.executable, REPOSITORY / "runner.py", "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    registered = subprocess.run(
        ["bash", "-c", f"{code}\ncomplete -p runner.py"], capture_output=True, text=True, check=True
    ).stdout
    assert registered.split()[-1] == "runner.py"
