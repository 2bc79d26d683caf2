"""What goes on inside a user's own service: its processes, their Pythons, their GIL and what switched it on."""

from pathlib import Path

import pytest

from tests.clients.user_service.test_client import serving
from tests.conftest import runtime_or_skip
from tests.contract.own_services import Measured, running
from tests.contract.runs import NEEDS_LINUX
from tests.contract.serving import check_ok

pytestmark = NEEDS_LINUX


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
    assert service["pythons"] == [other.facts["version"], runtime.facts["version"] + "t"]
    assert service["gil_enabled_end"] is False


def test_what_switched_the_gil_on_is_found_however_much_the_command_writes(own: Measured) -> None:
    runtime_or_skip("3.14t")
    given = {"command": "{python} chatty.py {port}", "environment": {"PYTHON_GIL": "1"}}
    result = own(given, "3.14t")
    assert (result.status, result.services[0]["gil_enabled_end"]) == ("invalid", True)
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
    assert (result.status, service["processes"]) == ("ok", 3)
    assert service["pythons"] == [runtime.interpreter.label]
    assert service["gil_enabled_ready"] is service["gil_enabled_end"] is runtime.name.gil_enabled
    assert {"cpu_user_ns", "cpu_system_ns", "voluntary_switches", "max_rss_bytes"} <= set(service)


def test_of_a_service_that_this_process_holds_nothing_is_known(own: Measured) -> None:
    with serving() as (address, _):
        asked = [{"request": "GET /3", "expect_json": '{"id": 3}'}]
        result = own({"targets": {"here": f"http://{address}/"}, "requests": asked})
    (service,) = result.services
    assert (result.status, service["gil_enabled_end"], service["pythons"]) == ("ok", None, [])
    assert "cpu_user_ns" not in service
