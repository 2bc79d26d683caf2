"""A user's own service as a real process: measured, checked, looked into, and ended with all that it has started."""

from pathlib import Path
from typing import Any

import pytest

from analysis.cell_index import Cells
from analysis.pause_shares import COLLECTION, pauses
from lab.python import uv
from lab.run.cell_processes import NOT_READY
from lab.run.measured_runtimes import Runtime
from record.run_file import load
from tests.clients.user_service.test_client import ITEM_3
from tests.conftest import runtime_or_skip
from tests.contract.own_services import Measured, running
from tests.contract.runs import NEEDS_LINUX, UNREPORTED, finished, processes_with
from tests.contract.serving import check_ok
from tests.lab.wheels import write_wheel
from tests.native.loadgen_peers import read_http, scripted
from tests.reports.sample import run_of
from tests.tables import each_row, table

pytestmark = NEEDS_LINUX


@each_row
def test_commands_are_measured_with_all_their_processes_and_leave_none(
    own: Measured, folder: Path, command: str, asked: int, expected: tuple[int, int]
) -> None:
    """expected: services, and processes of each"""
    result = own({"command": command.replace("FOLDER", str(folder))}, NUM_API_SERVICES=asked)
    check_ok(result)
    assert (result.requests, len(result.services)) == (10 * asked, expected[0])
    for service in result.services:
        assert (service.processes, service.counted) == (expected[1], False)
        assert 2**20 < (service.pss_bytes or 0) <= (service.max_rss_bytes or 0)
    assert [line for line in processes_with(folder).values() if "family.py" in line] == []


def test_a_program_of_the_requirements_runs_by_its_bare_name(own: Measured, folder: Path, any_runtime: Runtime) -> None:
    if uv.find() is None:
        pytest.skip("uv was not found")
    serve = f"def main():\n    import runpy\n    runpy.run_path({str(folder / 'items.py')!r}, run_name='__main__')\n"
    given = {"command": "tiny-serve {port}", "requirements": str(write_wheel(folder, serve))}
    result = own(given)
    check_ok(result)
    assert result.services[0].gil_enabled_ready is any_runtime.name.gil_enabled


FAILING = table(__file__, "failing.yaml")


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


# ---- its processes, their Pythons, their GIL and what switched it on -------------------------------------------------


def test_a_command_that_runs_another_python_is_invalid(own: Measured, folder: Path) -> None:
    other, runtime = runtime_or_skip("3.11").interpreter, runtime_or_skip("3.14").interpreter
    wrapper = folder / "serve"
    wrapper.write_text(f'#!/bin/sh\nexec {other.executable} items.py "$2"\n')
    wrapper.chmod(0o755)
    result = own({"command": f"{wrapper} {{python}} {{port}}"}, "3.14")
    assert result.status == "invalid"
    assert [one.facts["version"] in str(result.reason) for one in (other, runtime)] == [True, True]


def test_another_python_beside_the_measured_one_is_none_of_its_business(own: Measured) -> None:
    other, runtime = runtime_or_skip("3.11").interpreter, runtime_or_skip("3.14t").interpreter
    command = f"{other.executable} supervisor.py {{python}} items.py {{port}}"
    result = own({"command": command}, "3.14t")
    check_ok(result)
    (service,) = result.services
    assert service.pythons == [other.facts["version"], runtime.facts["version"] + "t"]
    assert service.gil_enabled_end is False


def test_what_switched_the_gil_on_is_found_however_much_the_command_writes(own: Measured) -> None:
    runtime_or_skip("3.14t")
    given = {"command": "{python} chatty.py {port}", "environment": {"PYTHON_GIL": "1"}}
    result = own(given, "3.14t")
    assert (result.status, result.services[0].gil_enabled_end) == ("invalid", True)
    assert str(result.reason).endswith("'shop._fast'")


@pytest.mark.parametrize("name", ["3.11", "3.14t"])
def test_the_processes_of_a_service_that_already_runs_are_counted_and_looked_at(
    name: str, own: Measured, folder: Path, port: int
) -> None:
    runtime = runtime_or_skip(name)
    given = {"targets": {"here": f"http://127.0.0.1:{port}/items/3"}, "requests": ["GET"]}
    with running(runtime, folder, port, "prefork.py"):
        result = own(given)
    (service,) = result.services
    assert (result.status, service.processes) == ("ok", 3)
    assert service.pythons == [runtime.interpreter.label]
    assert service.gil_enabled_ready is service.gil_enabled_end is runtime.name.gil_enabled
    used = (service.cpu_user_ns, service.cpu_system_ns, service.voluntary_switches, service.max_rss_bytes)
    assert None not in used


def test_of_a_service_that_this_process_holds_nothing_is_known(own: Measured) -> None:
    with scripted(ITEM_3, read_http) as server:
        asked = [{"request": "GET /3", "expect_json": '{"id": 3}'}]
        result = own({"targets": {"here": f"http://{server.address}/"}, "requests": asked})
    (service,) = result.services
    assert (result.status, service.gil_enabled_end, service.pythons) == ("ok", None, [])
    assert service.cpu_user_ns is None


# ---- a planted case: collections that hold up requests ---------------------------------------------------------------

BLOCKS = range(1, 9)  # fewer than 6 claim nothing; of 8 the machine may spoil two


@pytest.mark.alone
def test_collections_of_a_big_young_heap_are_named_as_what_holds_requests_up(
    own: Measured, any_runtime: Runtime
) -> None:
    many = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 500}
    given = {"command": "{python} collecting.py {port} 3000"}
    cells = [own(given, block=block, **many) for block in BLOCKS]
    for cell in cells:
        check_ok(cell)
    (found,) = pauses(Cells(run_of(cells, runtimes=(str(any_runtime.name),))).rows)
    assert COLLECTION in found.findings
    assert found.shares[COLLECTION].estimate.value > 0.3
    assert found.longest_ns > 1_000_000
