"""The plan and the machine of a saved run as types."""

import json
from typing import Any

import pytest

from core.user_service import App, Command, Target, UserService
from tests.reports.sample import run_of, set_plan


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
    plan = set_plan(run_of([]), own=json.loads(json.dumps(service.to_json()))).plan
    assert plan.user_service == service
