"""What a system declares, and that those that are there are the four of the specification."""

import dataclasses
import re
from pathlib import Path

import pytest

from core.cell import PARAMETERS
from core.errors import BadInput
from core.runtime import NATIVE
from core.system import CLIENT, COMMON, SERVICE, Program, System
from systems import built_in, find, readers

REPOSITORY = Path(__file__).resolve().parents[2]
POOLED = {"NUM_WORKERS_PER_API_SERVICE", "RATE"}
CACHED = POOLED | {"NUM_MAX_CONNS", "SELECTOR", "DISPATCH", "TRANSPORT"}
READ = {
    "1": POOLED | {"TRANSPORT"},
    "2": CACHED | {"REUSE_CLIENT"},
    "3": {"RATE"},
    "4": CACHED | {"NUM_MULTI_SOCKET", "SELECT_MODE", "CLIENT_BINDING"},
}


@pytest.mark.parametrize("number", READ)
def test_a_system_reads_the_parameters_that_the_specification_gives_it(number: str) -> None:
    assert set(find(number).parameters) == set(COMMON) | READ[number]


def test_the_systems_are_listed_by_number() -> None:
    numbers = [int(system.number) for system in built_in() if system.number]
    assert numbers[:4] == [1, 2, 3, 4]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("system", built_in(), ids=lambda system: str(system.name))
def test_a_system_is_found_by_its_number_and_by_its_name(system: System) -> None:
    assert find(system.key) is find(system.name) is system


@pytest.mark.parametrize("system", built_in(), ids=lambda system: str(system.name))
def test_a_function_that_a_system_names_stands_in_that_module(system: System) -> None:
    for factory in filter(None, (system.service, system.caller, system.message, system.client)):
        module, _, name = str(factory).partition(":")
        source = (REPOSITORY / module.replace(".", "/")).with_suffix(".py").read_text("utf-8")
        assert re.search(rf"^(def {name}\(|{name} = )", source, re.M)


@pytest.mark.parametrize("asked", ["", "0", "9", "s4_pool", "4 ", "__main__", "all"])
def test_an_unknown_system_is_refused_with_those_there_are(asked: str) -> None:
    with pytest.raises(BadInput) as caught:
        find(asked)
    assert repr(asked) in str(caught.value)
    assert "1 (fresh), 2 (cached), 3 (tornado), 4 (pool)" in str(caught.value)


def test_parameters_are_in_the_order_of_declaration_and_every_one_exists() -> None:
    for system in built_in():
        assert set(system.reads) <= set(PARAMETERS)
        assert list(system.parameters) == [name for name in PARAMETERS if name in system.parameters]


def test_a_system_without_a_number_is_known_by_its_name() -> None:
    assert dataclasses.replace(find("1"), number="").key == "fresh"


def test_the_packages_that_a_system_needs_are_listed_in_a_file_of_the_repository() -> None:
    assert find("3").requirements
    assert all((REPOSITORY / system.requirements).is_file() for system in built_in() if system.requirements)


def test_the_four_systems_are_a_group_and_every_other_belongs_to_one() -> None:
    assert [system.key for system in built_in() if system.group == "systems"] == ["1", "2", "3", "4"]
    assert {system.group for system in built_in()} == {"systems", "echo", "loadgen", "http-clients", "league"}


@pytest.mark.parametrize(
    ("name", "python", "native"),
    [("1", True, True), ("3", True, False), ("echo-libuv", False, True), ("echo-uvloop", True, False)],
)
def test_a_system_runs_under_python_where_it_has_python_and_natively_where_it_has_both_programs(
    name: str, python: bool, native: bool
) -> None:
    system = find(name)
    assert (system.runs_under("3.14t"), system.runs_under(NATIVE)) == (python, native)


def test_a_role_is_pythons_where_there_is_python_code_for_it() -> None:
    """uvloop's echo server is Python, its client is the load generator; system 2 has both parts both ways."""
    uvloop, cached = find("echo-uvloop"), find("2")
    assert [uvloop.has_python(role) for role in (SERVICE, CLIENT)] == [True, False]
    assert [cached.has_python(role) for role in (SERVICE, CLIENT)] == [True, True]
    assert uvloop.program(SERVICE) is None
    assert uvloop.program(CLIENT) == generator("echo")
    assert cached.program(SERVICE) == Program(name="calc-service", arguments=("--child",))
    assert cached.program(CLIENT) == generator("framed")


def generator(protocol: str) -> Program:
    """The load generator as a client that speaks *protocol*."""
    return Program(name="loadgen", arguments=("--report", "child", "--protocol", protocol))


def test_every_system_can_run_under_something() -> None:
    assert [system.name for system in built_in() if not any(map(system.runs_under, ("3.14t", NATIVE)))] == []


@pytest.mark.parametrize(
    ("parameter", "reading"),
    [("SELECT_MODE", ["4"]), ("MESSAGE_BYTES", ["echo"]), ("REUSE_CLIENT", ["2"]), ("BUFFER_BYTES", ["echo"])],
)
def test_readers_are_the_four_by_number_and_the_others_by_their_experiment(parameter: str, reading: list[str]) -> None:
    assert readers(parameter) == reading


def test_a_parameter_that_all_read_names_every_group_once() -> None:
    assert readers("NUM_CLIENTS") == ["1", "2", "3", "4", "echo", "http-clients", "league", "loadgen"]
