"""A system in a file outside the repository, with real processes: run, resume, report, plan, and its errors."""

import json
from pathlib import Path

import pytest

from core.result_file import RunFile, load
from lab.run.runtimes import Runtime
from tests.conftest import found
from tests.contract.runs import UNREPORTED, finished
from tests.docs.pages import outside_system
from tests.test_runner import gilscope

FEW = tuple(name for name in ("3.11", "3.14t") if name in found())
SIZE = ("--num-api-services", "2", "--num-requests-per-client", "50")


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder with the file that the page shows."""
    (short_folder / "my_system.py").write_text(outside_system())
    return short_folder


@pytest.fixture(scope="module")
def measured(any_runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a folder with a small run of it and of system 2 under two runtimes, in `run`."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "my_system.py").write_text(outside_system())
    flags = ("--system", "2,my_system.py", "--runtime", ",".join(FEW), *SIZE, "--blocks", "1", "--out", "run")
    done = finished(flags, folder, script=UNREPORTED)
    assert done.status() == 0, done.complained()
    return folder


def test_it_is_measured_under_each_runtime_and_keeps_a_short_name(measured: Path) -> None:
    saved = load(measured / "run")
    assert sorted((cell.runtime, cell.system, cell.status, cell.answered) for cell in saved.cells) == sorted(
        (runtime, system, "ok", 200) for runtime in FEW for system in ("2", "my-system")
    )
    assert all(cell.cell_id.startswith(f"{cell.system}-{cell.runtime}-") for cell in saved.cells)
    assert saved.plan["outside"] == {
        "my-system": {"title": "A thread per connection", "file": str(measured / "my_system.py")}
    }


def test_a_run_goes_on_where_it_was_stopped_from_another_folder(measured: Path, short_folder: Path) -> None:
    saved = load(measured / "run")
    whole = sorted(cell.cell_id for cell in saved.cells)
    saved.cells.remove(next(cell for cell in saved.cells if cell.system == "my-system"))
    short_folder.joinpath("run").mkdir()
    RunFile(short_folder / "run").save(saved)
    done = finished(["--resume", "run"], short_folder, script=UNREPORTED)
    assert done.status() == 0, done.complained()
    assert sorted(cell.cell_id for cell in load(short_folder / "run").cells) == whole


def test_a_saved_run_is_reported_without_the_file_and_goes_on_with_no_other(measured: Path) -> None:
    file = measured / "my_system.py"
    text = file.read_text()
    file.write_text(text.replace("my-system", "renamed"))
    for named in ("renamed", ""):
        done = gilscope("--resume", "run", folder=measured)
        assert done.returncode == 2
        assert str(file) in done.stderr
        assert named in done.stderr
        file.unlink(missing_ok=True)
    done = gilscope("report", "run", folder=measured)
    file.write_text(text)
    assert (done.returncode, "A thread per connection" in done.stdout) == (0, True), done.stderr


def test_a_plan_names_it_from_its_own_folder(folder: Path, any_runtime: Runtime) -> None:
    (folder / "plans").mkdir()
    (folder / "plans" / "mine.yaml").write_text("rows:\n  - system: ../my_system.py\n    TRANSPORT: [unix, tcp]\n")
    done = gilscope("plan", "--plan", "plans/mine.yaml", "--runtime", str(any_runtime.name), "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert [(row["system"], row["params"]["TRANSPORT"]) for row in json.loads(done.stdout)["rows"]] == [
        ("my-system", "unix"),
        ("my-system", "tcp"),
    ]


def test_a_file_that_fails_in_a_child_fails_its_cell_with_the_reason(folder: Path, any_runtime: Runtime) -> None:
    file = folder / "my_system.py"
    file.write_text(
        file.read_text() + "import os, sys\nif sys.argv[1:] == ['service']:\n    raise OSError('not here')\n"
    )
    flags = ("--system", "2,my_system.py", "--runtime", str(any_runtime.name), *SIZE, "--blocks", "1", "--out", "run")
    done = finished(flags, folder, script=UNREPORTED)
    cells = {cell.system: cell for cell in load(folder / "run").cells}
    assert done.status() == 1
    assert (cells["2"].status, cells["my-system"].status) == ("ok", "failed")
    assert "OSError: not here" in str(cells["my-system"].reason)
