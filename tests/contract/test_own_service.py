"""A user's own service as a real process: measured, checked, watched, and ended with all that it has started."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.topologies import measured_shape
from lab.python import uv
from lab.run.bench import Bench
from lab.run.cell_run import NOT_READY
from lab.run.runtimes import Runtime
from record.run_file import load
from tests.conftest import runtime_or_skip
from tests.contract.own_services import measured, running
from tests.contract.runs import UNREPORTED, finished, processes_with
from tests.contract.serving import check_ok
from tests.lab.wheels import write_wheel

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux: /proc")


@pytest.mark.parametrize(
    ("command", "asked", "expected"),
    [
        ("{python} items.py {port}", 1, (1, 1)),
        ("{python} items.py {port}", 2, (2, 1)),
        ("{python} items.py {port} {workers} {threads}", 3, (1, 1)),
        ("{python} family.py {port} FOLDER", 1, (1, 2)),
        ("{python} orphan.py {port}", 1, (1, 2)),  # a process that has left its parent
    ],
)
def test_commands_are_measured_with_all_their_processes_and_leave_none(
    any_runtime: Runtime, folder: Path, bench: Bench, command: str, asked: int, expected: tuple[int, int]
) -> None:
    """expected: services, and processes of each"""
    given = {"command": command.replace("FOLDER", str(folder))}
    result = measured(folder, bench, str(any_runtime.name), given, NUM_API_SERVICES=asked)
    check_ok(result)
    assert (result.requests, len(result.services)) == (10 * asked, expected[0])
    for service in result.services:
        assert (service["processes"], service["counted"]) == (expected[1], False)
        assert 2**20 < service["pss_bytes"] <= service["max_rss_bytes"]
    assert [line for line in processes_with(folder).values() if "family.py" in line] == []


@pytest.mark.parametrize("name", ["3.11", "3.14t"])
def test_a_service_that_starts_threads_for_processes_is_shown_as_what_it_is(
    folder: Path, bench: Bench, name: str
) -> None:
    runtime_or_skip(name)
    given = {"command": "{python} ignoring.py {port} {workers} {threads}"}
    asked = {"NUM_API_SERVICES": 2, "NUM_WORKERS_PER_API_SERVICE": 2}
    loads = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 400}
    result = measured(folder, bench, name, given, **asked, **loads)
    check_ok(result)
    assert measured_shape([result]) == (1, 4)


def test_a_program_of_the_requirements_runs_by_its_bare_name(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    if uv.find() is None:
        pytest.skip("uv was not found")
    serve = f"def main():\n    import runpy\n    runpy.run_path({str(folder / 'items.py')!r}, run_name='__main__')\n"
    given = {"command": "tiny-serve {port}", "requirements": str(write_wheel(folder, serve))}
    result = measured(folder, bench, str(any_runtime.name), given)
    check_ok(result)
    assert result.services[0]["gil_enabled_ready"] is any_runtime.name.gil_enabled


FAILING = yaml.safe_load(Path(__file__).with_name("failing.yaml").read_text())


@pytest.mark.parametrize(("command", "more", "parts"), FAILING)
def test_a_command_that_does_not_start_or_answer_rightly_says_why(
    any_runtime: Runtime, folder: Path, bench: Bench, command: str, more: dict[str, Any], parts: tuple[str, ...]
) -> None:
    result = measured(folder, bench, str(any_runtime.name), {"command": command, **more})
    assert result.status == "failed"
    assert [part for part in parts if part not in str(result.reason)] == []
    assert "Traceback" not in str(result.reason)


def test_a_service_that_should_already_run_is_told_by_its_address_alone(folder: Path, bench: Bench) -> None:
    result = measured(folder, bench, "native", {"targets": {"gone": "http://127.0.0.1:1/"}})
    said = str(result.reason)
    assert said.startswith("The service at http://127.0.0.1:1/ does not ")
    assert said.endswith("Start the service first.")
    assert "exited" not in said
    assert result.reason.code == NOT_READY


def test_arms_that_do_not_start_leave_the_others_alone(any_runtime: Runtime, folder: Path, port: int) -> None:
    flags = ["--arm", "gone=http://127.0.0.1:1/", "--blocks", "1", "--duration", "0.3", "--out", "run", "--quiet"]
    with running(any_runtime, folder, port):
        run = finished([*flags, "--arm", f"here=http://127.0.0.1:{port}/items/3"], folder, script=UNREPORTED)
    by_arm = {cell.system: cell for cell in load(folder / "run").cells}
    assert by_arm["gone"].status == "failed"
    check_ok(by_arm["here"])
    assert run.status() == 1
    assert "Traceback" not in run.complained()
