"""The plan and the machine of a saved run as types."""

import json
from typing import Any

import pytest

from core.messages import message
from core.saved import Machine, OutsideSystem, SavedPlan, SavedRow
from core.user_service import App, Command, Target, UserService

SMALLEST: dict[str, Any] = {
    "name": "mine",
    "blocks": 3,
    "runtimes": ["3.14"],
    "rows": [{"system": "4", "params": {"CALC_TARGET": 10}, "framed": True}],
}


def test_rows_absences_and_outside_systems_are_values() -> None:
    absent = [{"system": "x", "runtime": "3.14t", "reason": message("No wheel.").to_json()}]
    plan = SavedPlan.from_json({**SMALLEST, "absent": absent, "outside": {"x": {"title": "X", "file": "/x.py"}}})
    assert plan.rows == (SavedRow(system="4", params={"CALC_TARGET": 10}, framed=True),)
    assert plan.outside == {"x": OutsideSystem(title="X", file="/x.py")}
    (first,) = plan.absent
    assert (first.system, first.runtime, str(first.reason)) == ("x", "3.14t", "No wheel.")


@pytest.mark.parametrize(
    "start",
    [
        Command(command="{python} -m shop {port} {threads}", packages=("a",), environment={"A": "b"}),
        App(command="{python} -m granian", app="shop:app", server="granian", interface="asgi"),
        (Target(name="old", url="tcp:h:1", protocol="framed", address="h:1"),),
    ],
    ids=["command", "app", "targets"],
)
def test_a_user_service_comes_back_as_the_type_that_it_was(start: Any) -> None:
    service = UserService(name="shop", start=start)
    plan = SavedPlan.from_json({**SMALLEST, "own": json.loads(json.dumps(service.to_json()))})
    assert plan.user_service == service


def test_available_cores_are_those_that_the_run_could_use() -> None:
    known: list[dict[str, int]] = [{}, {"cores": 4}, {"cores": 4, "cores_usable": 2}]
    assert [Machine.from_json(facts).available_cores for facts in known] == [0, 4, 2]
