"""measure-your-service.md, word for word: its files and commands in a new folder, with fewer, shorter measurements."""

import re
import shlex
from pathlib import Path

import pytest

from core.program import ROOT
from record.run import Run
from record.run_file import load
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
def plan(folder: Path) -> Path:
    """The plan that the first command of the page writes."""
    if not found():
        pytest.skip("needs a runtime")
    ran(commands()[0], folder)
    return folder / "shop.yaml"


@pytest.fixture(scope="module")
def printed(plan: Path) -> str:
    """What the last command of the page printed, after all others, in the hurry that the page allows."""
    if len(found()) < FEWEST_RUNTIMES:
        pytest.skip(f"a comparison wants two runtimes; found: {', '.join(found()) or 'none'}")
    _, *others, last = commands()
    return [ran(command, plan.parent) for command in (*others, f"{last} {hurry()}")][-1]


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


def test_the_written_plan_is_the_one_on_the_page(plan: Path) -> None:
    (shown,) = blocks(PAGE, "yaml")
    written = plan.read_text().replace(f"{ROOT}/", "")  # the page stands in the checkout, the test does not
    expect(PAGE, PAGE.read_text().replace(shown, written))


def test_the_project_alone_gives_the_same_plan_but_for_the_request(plan: Path) -> None:
    ran("init found.yaml --name shop", plan.parent)
    before, _, after = plan.read_text().partition("    - request: GET /items/3\n      expect_json: '{\"id\": 3}'\n")
    written = (plan.parent / "found.yaml").read_text().replace("found.yaml", "shop.yaml")
    assert written == f"{before}    - request: GET /\n{after}"


def test_the_output_has_the_rows_and_steps_that_the_page_shows(printed: str) -> None:
    if len(found()) < len(RUNTIMES):
        pytest.skip(f"the page shows four runtimes; found: {', '.join(found())}")
    (shown,) = [text for text in blocks(PAGE, "text") if "throughput" in text]
    steps = re.findall(r"^(?!step)\w+ +\S+ → \S+(?: again)?", shown, re.MULTILINE)
    assert len(steps) == 5
    for step in steps:
        assert " ".join(step.split()) in " ".join(printed.split())
    assert printed.split()[-2:] == shown.split()[-2:]
