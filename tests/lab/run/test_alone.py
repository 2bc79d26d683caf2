"""The floor of services: answers alone in a child, under each runtime and for each work of a plan."""

from pathlib import Path

import pytest

from config.plan import Plan, Row
from core.messages import Message
from core.runtime import NATIVE, RuntimeName
from lab.python.interpreters import Interpreter
from lab.run.alone import floors
from lab.run.measure import Bench
from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.conftest import RUNTIMES, runtime_or_skip


def plan_of(*runtimes: str, systems: tuple[str, ...] = ("2", "4"), targets: tuple[int, ...] = (10, 2000)) -> Plan:
    rows = [Row(system=find(system), values={"CALC_TARGET": targets}) for system in systems]
    return Plan(name="p", rows=tuple(rows), runtimes=(*runtimes, NATIVE))


@pytest.mark.parametrize("name", RUNTIMES)
def test_each_work_is_measured_once_under_each_runtime_and_counting_farther_takes_longer(name: str) -> None:
    with Sandbox() as sandbox:
        bench = Bench(sandbox=sandbox, runtimes={name: runtime_or_skip(name)})
        plan = plan_of(name)
        little, much = floors(plan, bench, [])
        assert floors(plan, bench, [little, much]) == []
    assert (little["runtime"], little["calc_target"], little["payload_bytes"]) == (name, 10, 0)
    assert (much["runtime"], much["calc_target"], much["payload_bytes"]) == (name, 2000, 0)
    assert much["answers"] < little["answers"]
    for floor in (little, much):
        assert 10_000_000 <= floor["rounds_ns"][0] < 10**9
        assert 1 <= len(floor["rounds_ns"]) <= 5


def test_systems_that_answer_in_another_way_have_none() -> None:
    with Sandbox() as sandbox:
        assert floors(plan_of("3.14", systems=("3", "echo-asyncio")), Bench(sandbox=sandbox, runtimes={}), []) == []


def test_why_it_was_not_measured_is_kept() -> None:
    interpreter = Interpreter(name="3.14", executable=Path("/no/python"), source="given", facts={"version": "3.14.0"})
    runtime = Runtime(name=RuntimeName.parse("3.14"), interpreter=interpreter)
    with Sandbox() as sandbox:
        (floor,) = floors(plan_of("3.14", targets=(10,)), Bench(sandbox=sandbox, runtimes={"3.14": runtime}), [])
    assert "could not be started: /no/python" in str(Message.from_json(floor["reason"]))
