"""A user's own service as a real process: measured, checked, watched, and ended with all that it has started."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.topologies import measured_shape
from lab.python import uv
from lab.run.cell_run import NOT_READY
from lab.run.runtimes import Runtime
from record.run_file import load
from tests.contract.own_services import Measured, running
from tests.contract.runs import NEEDS_LINUX, UNREPORTED, finished, processes_with
from tests.contract.serving import check_ok
from tests.lab.wheels import write_wheel

pytestmark = NEEDS_LINUX


@pytest.mark.parametrize(
    ("command", "asked", "expected"),
    [
        ("{python} items.py {port}", 2, (2, 1)),
        ("{python} items.py {port} {workers} {threads}", 3, (1, 1)),
        ("{python} family.py {port} FOLDER", 1, (1, 2)),
        ("{python} orphan.py {port}", 1, (1, 2)),  # a process that has left its parent
    ],
)
def test_commands_are_measured_with_all_their_processes_and_leave_none(
    own: Measured, folder: Path, command: str, asked: int, expected: tuple[int, int]
) -> None:
    """expected: services, and processes of each"""
    result = own({"command": command.replace("FOLDER", str(folder))}, NUM_API_SERVICES=asked)
    check_ok(result)
    assert (result.requests, len(result.services)) == (10 * asked, expected[0])
    for service in result.services:
        assert (service["processes"], service["counted"]) == (expected[1], False)
        assert 2**20 < service["pss_bytes"] <= service["max_rss_bytes"]
    assert [line for line in processes_with(folder).values() if "family.py" in line] == []


def test_a_service_that_starts_threads_for_processes_is_shown_as_what_it_is(own: Measured) -> None:
    given = {"command": "{python} ignoring.py {port} {workers} {threads}"}
    asked = {"NUM_API_SERVICES": 2, "NUM_WORKERS_PER_API_SERVICE": 2}
    loads = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 400}
    result = own(given, **asked, **loads)
    check_ok(result)
    assert measured_shape([result]) == (1, 4)


def test_a_program_of_the_requirements_runs_by_its_bare_name(own: Measured, folder: Path, any_runtime: Runtime) -> None:
    if uv.find() is None:
        pytest.skip("uv was not found")
    serve = f"def main():\n    import runpy\n    runpy.run_path({str(folder / 'items.py')!r}, run_name='__main__')\n"
    given = {"command": "tiny-serve {port}", "requirements": str(write_wheel(folder, serve))}
    result = own(given)
    check_ok(result)
    assert result.services[0]["gil_enabled_ready"] is any_runtime.name.gil_enabled


FAILING = yaml.safe_load(Path(__file__).with_name("failing.yaml").read_text())


@pytest.mark.parametrize(("command", "more", "parts"), FAILING)
def test_a_command_that_does_not_start_or_answer_rightly_says_why(
    own: Measured, command: str, more: dict[str, Any], parts: tuple[str, ...]
) -> None:
    result = own({"command": command, **more})
    assert result.status == "failed"
    assert [part for part in parts if part not in str(result.reason)] == []
    assert "Traceback" not in str(result.reason)


def test_an_arm_that_should_already_run_is_told_by_its_address_alone_and_leaves_the_others_alone(
    any_runtime: Runtime, folder: Path, port: int
) -> None:
    flags = ["--arm", "gone=http://127.0.0.1:1/", "--blocks", "1", "--duration", "0.3", "--out", "run", "--quiet"]
    with running(any_runtime, folder, port):
        run = finished([*flags, "--arm", f"here=http://127.0.0.1:{port}/items/3"], folder, script=UNREPORTED)
    by_arm = {cell.system: cell for cell in load(folder / "run").cells}
    gone = by_arm["gone"]
    assert (gone.status, gone.reason.code) == ("failed", NOT_READY)
    assert str(gone.reason).startswith("The service at http://127.0.0.1:1/ does not ")
    assert str(gone.reason).endswith("Start the service first.")
    assert "exited" not in str(gone.reason)
    check_ok(by_arm["here"])
    assert run.status() == 1
    assert "Traceback" not in run.complained()
