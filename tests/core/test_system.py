"""What a system declares, and that those that are there are the four of the specification."""

import dataclasses
from pathlib import Path

import pytest

from core.cell import PARAMETERS
from core.errors import BadInput
from core.system import COMMON, System
from systems import every, find

REPOSITORY = Path(__file__).resolve().parents[2]
POOLED = {"NUM_WORKERS_PER_API_SERVICE"}
CACHED = POOLED | {"NUM_MAX_CONNS", "SELECTOR", "TRANSPORT"}
READ = {
    "1": POOLED | {"TRANSPORT"},
    "2": CACHED | {"REUSE_CLIENT"},
    "3": set(),
    "4": CACHED | {"NUM_MULTI_SOCKET", "SELECT_MODE", "CLIENT_BINDING"},
}


@pytest.mark.parametrize("number", READ)
def test_a_system_reads_the_parameters_that_the_specification_gives_it(number: str) -> None:
    assert set(find(number).parameters) == set(COMMON) | READ[number]


def test_the_systems_are_listed_by_number() -> None:
    numbers = [int(system.number) for system in every() if system.number]
    assert numbers[:4] == [1, 2, 3, 4]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("system", every(), ids=lambda system: str(system.name))
def test_a_system_is_found_by_its_number_and_by_its_name(system: System) -> None:
    assert find(system.key) is find(system.name) is system


@pytest.mark.parametrize("asked", ["", "0", "9", "s4_pool", "4 ", "__main__", "all"])
def test_an_unknown_system_is_refused_with_those_there_are(asked: str) -> None:
    with pytest.raises(BadInput) as caught:
        find(asked)
    assert repr(asked) in str(caught.value)
    assert "1 (fresh), 2 (cached), 3 (tornado), 4 (pool)" in str(caught.value)


def test_parameters_are_in_the_order_of_declaration_and_every_one_exists() -> None:
    for system in every():
        assert set(system.reads) <= set(PARAMETERS)
        assert list(system.parameters) == [name for name in PARAMETERS if name in system.parameters]


def test_a_system_without_a_number_is_known_by_its_name() -> None:
    assert dataclasses.replace(find("1"), number="").key == "fresh"


def test_the_packages_that_a_system_needs_are_listed_in_a_file_of_the_repository() -> None:
    assert find("3").requirements
    assert all((REPOSITORY / system.requirements).is_file() for system in every() if system.requirements)
