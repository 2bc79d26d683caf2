"""A system in a file outside the repository, with real processes: run, resume, report, serve, plan, and its errors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.result import FILE_NAME, RunFile, load
from lab.places import REPOSITORY
from lab.run.runtimes import Runtime
from tests.docs.pages import outside_system

SIZE = ("--num-api-services", "2", "--num-requests-per-client", "50")


def gilscope(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`python runner.py arguments...` in *folder*, without a terminal."""
    return subprocess.run(
        [sys.executable, REPOSITORY / "runner.py", *arguments],
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the file that the page shows."""
    (tmp_path / "my_system.py").write_text(outside_system())
    return tmp_path


def run(folder: Path, runtime: Runtime, *more: str) -> None:
    """A small run of it and of system 2, saved in `run`."""
    asked = ("--system", "2,my_system.py", "--runtime", str(runtime.name), *SIZE, "--blocks", "1", "--out", "run")
    done = gilscope(folder, *asked, *more)
    assert done.returncode == 0, done.stderr


def test_it_is_measured_under_every_runtime_and_keeps_a_short_name(folder: Path, runtime: Runtime) -> None:
    run(folder, runtime, "--quiet")
    saved = load(folder / "run")
    assert sorted((cell.system, cell.status, cell.answered) for cell in saved.cells) == [
        ("2", "ok", 200),
        ("my-system", "ok", 200),
    ]
    assert all(cell.cell_id.startswith(f"{cell.system}-{runtime.name}-") for cell in saved.cells)
    assert saved.plan["outside"] == {
        "my-system": {"title": "A thread per connection", "file": str(folder / "my_system.py")}
    }


def test_a_run_goes_on_where_it_was_stopped_from_another_folder(
    folder: Path, any_runtime: Runtime, tmp_path: Path
) -> None:
    run(folder, any_runtime, "--quiet")
    saved = load(folder / "run")
    whole = sorted(cell.cell_id for cell in saved.cells)
    saved.cells = [cell for cell in saved.cells if cell.system == "2"]
    RunFile(folder / "run").save(saved)
    (tmp_path / "elsewhere").mkdir()
    done = gilscope(tmp_path / "elsewhere", "--resume", str(folder / "run"), "--quiet")
    assert done.returncode == 0, done.stderr
    assert sorted(cell.cell_id for cell in load(folder / "run").cells) == whole


def test_a_saved_run_is_reported_without_the_file_and_does_not_go_on_without_it(
    folder: Path, any_runtime: Runtime
) -> None:
    run(folder, any_runtime, "--quiet")
    (folder / "my_system.py").unlink()
    done = gilscope(folder, "report", "run")
    assert done.returncode == 0, done.stderr
    assert "A thread per connection" in done.stdout
    done = gilscope(folder, "--resume", "run")
    assert done.returncode == 2
    assert f"{folder / 'my_system.py'} cannot be read: there is no such file" in done.stderr


def test_a_run_does_not_go_on_with_a_file_that_declares_another_system(folder: Path, any_runtime: Runtime) -> None:
    run(folder, any_runtime, "--quiet")
    file = folder / "my_system.py"
    file.write_text(file.read_text().replace("my-system", "renamed"))
    done = gilscope(folder, "--resume", "run")
    assert done.returncode == 2
    assert f"The run measured system my-system; {file} declares renamed now." in done.stderr


def test_its_services_are_served(folder: Path, any_runtime: Runtime) -> None:
    done = gilscope(
        folder, "serve", "--system", "my_system.py", "--runtime", str(any_runtime.name), "--num-api-services", "2"
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert all(line.startswith("/") for line in done.stdout.splitlines())


def test_a_plan_names_it_from_its_own_folder(folder: Path, any_runtime: Runtime) -> None:
    (folder / "plans").mkdir()
    (folder / "plans" / "mine.yaml").write_text("rows:\n  - system: ../my_system.py\n    TRANSPORT: [unix, tcp]\n")
    done = gilscope(folder, "plan", "--plan", "plans/mine.yaml", "--runtime", str(any_runtime.name), "--json")
    assert done.returncode == 0, done.stderr
    assert [(row["system"], row["params"]["TRANSPORT"]) for row in json.loads(done.stdout)["rows"]] == [
        ("my-system", "unix"),
        ("my-system", "tcp"),
    ]


@pytest.mark.parametrize("content", [None, "x = 1\n", "import nowhere_at_all\n"])
def test_a_file_that_is_no_system_is_one_line_and_nothing_is_run(
    folder: Path, any_runtime: Runtime, content: str | None
) -> None:
    if content is not None:
        (folder / "wrong.py").write_text(content)
    done = gilscope(folder, "--system", "wrong.py", "--runtime", str(any_runtime.name), "--out", "run")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: {folder / 'wrong.py'} ")
    assert not (folder / "run" / FILE_NAME).exists()


def test_a_file_that_fails_in_a_child_fails_its_cell_with_the_reason(folder: Path, any_runtime: Runtime) -> None:
    file = folder / "my_system.py"
    file.write_text(
        file.read_text() + "import os, sys\nif sys.argv[1:] == ['service']:\n    raise OSError('not here')\n"
    )
    done = gilscope(
        folder, "--system", "2,my_system.py", "--runtime", str(any_runtime.name), *SIZE, "--blocks", "1", "--out", "run"
    )
    cells = {cell.system: cell for cell in load(folder / "run").cells}
    assert done.returncode == 1
    assert (cells["2"].status, cells["my-system"].status) == ("ok", "failed")
    assert "OSError: not here" in str(cells["my-system"].reason)
