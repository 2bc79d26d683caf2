"""The plan and the machine of a saved run as types."""

import json
from typing import Any

import pytest

from core.user_service import App, Command, Target, UserService
from record.decode import decoded
from record.plan import SavedPlan

SMALLEST: dict[str, Any] = {
    "name": "mine",
    "blocks": 3,
    "runtimes": ["3.14"],
    "rows": [{"system": "4", "params": {"CALC_TARGET": 10}, "framed": True}],
}


@pytest.mark.parametrize(
    "start",
    [
        Command(command="{python} -m shop {port} {threads}", packages=("a",), environment={"A": "b"}),
        App(command="{python} -m granian", app="shop:app", server="granian", interface="asgi"),
        (Target(name="old", url="tcp:h:1", address="h:1"),),
    ],
    ids=["command", "app", "targets"],
)
def test_a_user_service_comes_back_as_the_type_that_it_was(start: Any) -> None:
    service = UserService(name="shop", start=start)
    plan = decoded({**SMALLEST, "own": json.loads(json.dumps(service.to_json()))}, SavedPlan)
    assert plan.user_service == service
