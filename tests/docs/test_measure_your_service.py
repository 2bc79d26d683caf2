"""measure-your-service.md, word for word: its files and commands in a new folder, with fewer, shorter measurements.

test_commands.py plans what its second command plans, and tests/commands/test_init.py has the plan without flags.
"""

import re
import shlex
from pathlib import Path

import pytest

from record.run_file import load
from tests.conftest import runtime_or_skip
from tests.docs.pages import DOCS, blocks, expect
from tests.test_runner import gilscope

PAGE = DOCS / "measure-your-service.md"
SAVED = r"save this \w+ as\s+`([\w.]+)`:\n\n```\w+\n(.*?)^```"  # a file of the page, and what is in it
HURRY = r"everything works, add `(--[^`]+)` to the\s+command that measures"
RUNTIMES = {"3.14t+gil": True, "3.14t": False}  # and their GILs: of one interpreter, which needs one environment
STEPS = ("GIL 3.14t+gil → 3.14t", "noise 3.14t → 3.14t again")


def commands() -> list[str]:
    """Return what follows `runner.py` in the page's command lines; the first says where gilscope is."""
    where, *lines = "".join(blocks(PAGE, "sh")).splitlines()
    assert where.startswith("export GILSCOPE=")
    return [line.removeprefix("python $GILSCOPE/runner.py ") for line in lines]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plan that the first command of the page writes into a folder with the files of the page."""
    folder = tmp_path_factory.mktemp("shop")
    for name, content in re.findall(SAVED, PAGE.read_text(), re.MULTILINE | re.DOTALL):
        (folder / name).write_text(content)
    ran(commands()[0], folder)
    return folder / "shop.yaml"


def ran(command: str, folder: Path) -> str:
    """Return what `runner.py` printed. May skip the test."""
    done = gilscope(*shlex.split(command), folder=folder)
    if "could not be installed" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_last_command_measures_each_runtime_with_its_gil_and_prints_the_rows_that_the_page_shows(
    plan: Path,
) -> None:
    interpreter = runtime_or_skip("3.14t").interpreter
    (shorter,) = re.findall(HURRY, PAGE.read_text())
    hurried = f"{shorter} --runtime {','.join(RUNTIMES)} --interpreter 3.14t={interpreter.executable}"
    *_, measures = commands()
    printed = ran(f"{measures} {hurried}", plan.parent).split()
    cells = load(plan.parent / "run").cells
    assert [(cell.status, str(cell.reason), cell.wrong) for cell in cells] == [("ok", "", 0)] * 3
    assert all(cell.answered > 0 for cell in cells)
    assert {(cell.runtime, one.gil_enabled_end) for cell in cells for one in cell.services} == {*RUNTIMES.items()}
    (shown,) = [text.split() for text in blocks(PAGE, "text") if "throughput" in text]
    for words in (shown, printed):
        assert [step for step in STEPS if step not in " ".join(words)] == []
    assert printed[-2:] == shown[-2:]


def test_the_written_plan_without_its_comments_is_the_one_on_the_page(plan: Path) -> None:
    (shown,) = blocks(PAGE, "yaml")
    name, *lines = plan.read_text().splitlines()
    kept = [line for line in lines if not line.lstrip().startswith("#")]
    expect(PAGE, PAGE.read_text().replace(shown, "\n".join([name, *kept, ""])))
