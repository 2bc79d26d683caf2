"""A user's service, on its way through a file."""

import json
from typing import Any

import pytest

from core.user_service import App, Command, Target, UserService


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
    assert UserService.from_json(json.loads(json.dumps(service.to_json()))) == service
