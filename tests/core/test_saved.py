"""The plan and the machine of a saved run: typed, also from files of earlier versions."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.messages import message
from core.method import Method
from core.saved import Machine, OutsideSystem, SavedPlan, SavedRow
from core.user_service import App, Command, Target, UserService

REPOSITORY = Path(__file__).parents[2]
EARLY = json.loads((REPOSITORY / "tests/commands/early-result.json").read_text())
SMALLEST: dict[str, Any] = {
    "name": "mine",
    "blocks": 3,
    "runtimes": ["3.14"],
    "rows": [{"system": "4", "params": {"CALC_TARGET": 10}}],
}


def test_a_plan_of_the_first_version_has_the_defaults_of_what_it_does_not_say() -> None:
    plan = SavedPlan.from_json(EARLY["plan"])
    assert (plan.name, plan.blocks, plan.runtimes, plan.method) == ("default", 3, ("3.11", "3.14t"), Method())
    assert (plan.user_service, plan.absent, plan.rows[0].runtimes) == (None, (), None)


@pytest.mark.parametrize("reason", ["No wheel.", message("No wheel.").to_json()], ids=["text", "message"])
def test_rows_absences_and_outside_systems_are_values(reason: Any) -> None:
    absent = [{"system": "x", "runtime": "3.14t", "reason": reason}]
    plan = SavedPlan.from_json({**SMALLEST, "absent": absent, "outside": {"x": {"title": "X", "file": "/x.py"}}})
    assert plan.rows == (SavedRow(system="4", params={"CALC_TARGET": 10}, framed=True),)
    assert plan.outside == (OutsideSystem(name="x", title="X", file="/x.py"),)
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


def test_a_user_service_of_an_earlier_version_is_a_command_or_targets() -> None:
    earlier = {"name": "own", "command": "", "packages": [], "first_port": 0, "targets": [], "protocol": "http"}
    requests = UserService(name="x", start=()).requests.to_json()
    target = {"name": "old", "url": "tcp:h:1", "protocol": "framed", "address": "h:1", "prefix": ""}
    targets = UserService.from_json({**earlier, "requests": requests, "targets": [target]})
    command = UserService.from_json({**earlier, "requests": requests, "command": "{python} {port}"})
    assert [one.name for one in targets.targets] == ["old"]
    assert targets.command is None
    assert (command.command, command.targets) == (Command(command="{python} {port}"), ())


def test_a_machine_keeps_what_is_known_and_leaves_out_what_it_does_not_know() -> None:
    machine = Machine.from_json({**EARLY["machine"], "flux": 3})
    assert (machine.cpu, machine.cores, machine.load) == ("AMD EPYC", 2, (5.28, 3.26, 3.11))
    assert (machine.governor, machine.commit, machine.quiet) == (None, None, None)
    assert machine.limits["nofile_soft"] == 20000


def test_available_cores_are_those_that_the_run_could_use() -> None:
    known: list[dict[str, int]] = [{}, {"cores": 4}, {"cores": 4, "cores_usable": 2}]
    assert [Machine.from_json(facts).available_cores for facts in known] == [0, 4, 2]
