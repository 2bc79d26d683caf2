"""measure-your-service.md, word for word: its files and commands in a new folder, with fewer, shorter measurements."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from commands.init import main as init
from core.result import Run, load
from tests.commands.test_init import Typed
from tests.conftest import RUNTIMES, found
from tests.docs.pages import DOCS, blocks, expect
from tests.test_runner import gilscope

PAGE = DOCS / "measure-your-service.md"
FEWEST_RUNTIMES = 2


def files() -> dict[str, str]:
    """Return {name: content} of the files that the page says to save."""
    saved = r"save this \w+ as\s+`([\w.]+)`:\n\n```\w+\n(.*?)^```"
    return dict(re.findall(saved, PAGE.read_text(), re.MULTILINE | re.DOTALL))


def commands() -> list[str]:
    """Return what follows `runner.py` in the page's command lines; the first says where gilscope is."""
    where, *lines = "".join(blocks(PAGE, "sh")).splitlines()
    assert where.startswith("export GILSCOPE=")
    return [line.removeprefix("python $GILSCOPE/runner.py ") for line in lines]


def hurry() -> str:
    """The flags that the page gives for seeing that everything works."""
    (flags,) = re.findall(r"everything works, add `(--[^`]+)` to the\s+command that measures", PAGE.read_text())
    return str(flags)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page."""
    folder = tmp_path_factory.mktemp("shop")
    for name, content in files().items():
        (folder / name).write_text(content)
    return folder


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    """What the last command of the page printed, after all others, in the hurry that the page allows."""
    if len(found()) < FEWEST_RUNTIMES:
        pytest.skip(f"a comparison wants two runtimes; found: {', '.join(found()) or 'none'}")
    *before, last = commands()
    return [ran(command, folder) for command in (*before, f"{last} {hurry()}")][-1]


def ran(command: str, folder: Path) -> str:
    """Return what `runner.py` printed. May skip the test."""
    done = gilscope(*shlex.split(command), folder=folder)
    if "could not be installed" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(printed: str, folder: Path) -> Run:
    """The run that the page's commands saved."""
    assert printed
    return load(folder / "run")


def test_every_runtime_that_is_here_was_measured_and_answered_rightly_with_the_gil_that_was_promised(run: Run) -> None:
    assert [(cell.status, str(cell.reason), cell.wrong) for cell in run.cells] == [("ok", "", 0)] * len(run.cells)
    assert all(cell.answered > 0 for cell in run.cells)
    seen = {(cell.runtime, one["gil_enabled_end"]) for cell in run.cells for one in cell.services}
    assert seen == {(name, one.name.gil_enabled) for name, one in found().items()}


def test_the_written_plan_is_the_one_on_the_page(run: Run, folder: Path) -> None:
    assert run.plan["name"] == "shop"
    assert [(folder / "shop.yaml").read_text()] == blocks(PAGE, "yaml")


def test_the_output_has_the_rows_and_steps_that_the_page_shows(printed: str) -> None:
    if len(found()) < len(RUNTIMES):
        pytest.skip(f"the page shows four runtimes; found: {', '.join(found())}")
    (shown,) = [text for text in blocks(PAGE, "text") if "throughput" in text]
    steps = re.findall(r"^(?!step)\w+ +\S+ → \S+(?: again)?", shown, re.MULTILINE)
    assert len(steps) == 5
    for step in steps:
        assert " ".join(step.split()) in " ".join(printed.split())
    assert printed.split()[-2:] == shown.split()[-2:]


def test_the_questions_write_the_same_plan(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (dialogue,) = [text for text in blocks(PAGE, "text") if "\n> " in text]
    answers = [line[1:].strip() for line in dialogue.splitlines() if line.startswith(">")]
    monkeypatch.setattr(sys, "stdin", Typed("".join(f"{answer}\n" for answer in answers)))
    monkeypatch.chdir(folder)
    assert init(["shop.yaml", "--force"]) == 0
    (shown,) = blocks(PAGE, "yaml")
    expect(PAGE, PAGE.read_text().replace(shown, (folder / "shop.yaml").read_text()))
    asked = capsys.readouterr().err
    assert all(line in asked for line in dialogue.splitlines() if line.endswith("?"))
