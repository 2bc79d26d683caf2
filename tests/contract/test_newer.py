"""Newer runtimes, and those with a JIT: how they are found, started and looked at. test_systems.py measures them."""

import pytest

from lab.run.measured_runtimes import Runtime
from lab.user_service.process_memory import python_process
from tests.conftest import runtime_or_skip
from tests.contract.own_services import Measured
from tests.contract.serving import check_ok
from tests.lab.user_service.test_process_memory import WAITING, running
from tests.tables import each_row

SERVED = {"command": "{python} items.py {port}"}


def test_a_users_service_is_what_the_runtimes_name_promises(newer_runtime: Runtime, own: Measured) -> None:
    result = own(SERVED, str(newer_runtime.name))
    check_ok(result)
    (service,) = result.services
    assert service.pythons == [newer_runtime.interpreter.label]
    assert service.gil_enabled_end is newer_runtime.name.gil_enabled
    assert service.jit_enabled_end is newer_runtime.name.jit_enabled


@each_row
def test_a_users_service_whose_jit_is_not_as_promised_makes_the_cell_invalid(
    own: Measured, name: str, variable: str
) -> None:
    if not runtime_or_skip(name).interpreter.has_jit:
        pytest.skip(f"{name} was built without a JIT")
    result = own({**SERVED, "environment": {"PYTHON_JIT": variable}}, name)
    assert result.status == "invalid"
    state = "on" if variable == "1" else "off"
    assert f"was {state} after the process had started and at the end of the measurement" in str(result.reason)


def test_the_gil_of_a_process_that_waits_in_the_kernel_is_known_without_asking(newer_runtime: Runtime) -> None:
    with running(newer_runtime, WAITING) as pid:
        process = python_process(pid)
    assert process is not None
    assert (process.label, process.gil_enabled) == (newer_runtime.interpreter.label, newer_runtime.name.gil_enabled)
