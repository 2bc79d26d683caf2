"""A system in a file outside the repository, with real processes: run, resume, report, plan, and its errors."""

from pathlib import Path

import pytest

from config.load import load_plan
from record.run_file import RunFile, load
from record.saved_plan import OutsideSystem
from tests.conftest import runtime_or_skip
from tests.contract.runs import UNREPORTED, finished
from tests.docs.pages import outside_system
from tests.test_runner import gilscope

FEW = ("3.11", "3.14t")
SIZE = ("--num-api-services", "2", "--num-requests-per-client", "50", "--blocks", "1")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the file that the page shows, and a small run of it under two runtimes, in `run`."""
    for name in FEW:
        runtime_or_skip(name)
    folder = tmp_path_factory.mktemp("measured")
    (folder / "my_system.py").write_text(outside_system())
    flags = ("--system", "my_system.py", "--runtime", ",".join(FEW), *SIZE, "--warmup", "10%", "--out", "run")
    done = finished(flags, folder, script=UNREPORTED)
    assert done.status() == 0, done.complained()
    return folder


def test_it_is_measured_under_each_runtime_and_keeps_a_short_name(measured: Path) -> None:
    saved = load(measured / "run")
    assert sorted(cell.runtime for cell in saved.cells) == sorted(FEW)
    for cell in saved.cells:
        assert (cell.system, cell.status, str(cell.reason), cell.answered) == ("my-system", "ok", "", 200)
        assert sum(service.requests for service in cell.services) == 200
        assert cell.waiting.count == 2 * 2
        assert cell.cell_id.startswith(f"{cell.system}-{cell.runtime}-")
    file = str(measured / "my_system.py")
    assert saved.plan.outside == {"my-system": OutsideSystem(title="A thread per connection", file=file)}


def test_a_run_goes_on_where_it_was_stopped_from_another_folder(measured: Path, short_folder: Path) -> None:
    saved = load(measured / "run")
    whole = sorted(cell.cell_id for cell in saved.cells)
    saved.cells.pop()
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
    report = finished(["report", "run"], measured, script=UNREPORTED)
    file.write_text(text)
    assert (report.status(), "A thread per connection" in report.said()) == (0, True), report.complained()


def test_a_plan_names_it_from_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "my_system.py").write_text(outside_system())
    plan = tmp_path / "plans" / "mine.yaml"
    plan.parent.mkdir()
    plan.write_text("rows:\n  - system: ../my_system.py\n    TRANSPORT: [unix, tcp]\n")
    assert {(cell.system, cell.transport) for cell in load_plan(plan).cells()} == {
        ("my-system", "unix"),
        ("my-system", "tcp"),
    }
