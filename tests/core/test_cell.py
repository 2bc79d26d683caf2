"""Parameters: everything about one is derived from its declaration. Cells: valid, and known by what is read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cell import PARAMETERS, Cell, Parameter, Value, parameter
from core.messages import BadInput
from core.system import COMMON
from tests.tables import each_row

ALL = tuple(PARAMETERS)
NUMBERS = [one for one in PARAMETERS.values() if one.kind is int]


def build(values: dict[str, Any] | None = None, reads: tuple[str, ...] = ALL, system: str = "4") -> Cell:
    return Cell.build(system=system, runtime="3.14t", reads=reads, values=values or {})


def values_of(one: Parameter) -> st.SearchStrategy[Value]:
    """Every value that a parameter takes, as a plan or a flag holds it once it is parsed."""
    inside: st.SearchStrategy[Value]
    if one.kind is bool:
        inside = st.booleans()
    elif one.choices:
        inside = st.sampled_from(one.choices)
    else:
        inside = st.integers(one.low, one.high)
    return inside | st.none() if one.optional else inside


VALUES = st.fixed_dictionaries({}, optional={name: values_of(one) for name, one in PARAMETERS.items()})
READS = st.sets(st.sampled_from(ALL)).map(lambda names: tuple(name for name in ALL if name in names))


@each_row
def test_a_value_is_read_from_text_and_from_json_alike(line: str) -> None:
    given, _, meant = line.partition(" -> ")
    name, _, values = given.partition(" ")
    value = json.loads(meant)
    for parsed in map(parameter(name).parse, json.loads(values)):
        assert parsed == value
        assert type(parsed) is type(value)


@each_row
def test_an_error_names_the_parameter_the_value_and_what_is_accepted(line: str) -> None:
    given, _, accepted = line.partition(" -> ")
    name, _, values = given.partition(" ")
    for value in json.loads(values):
        shown = value if isinstance(value, str) else json.dumps(value)
        with pytest.raises(BadInput) as caught:
            parameter(name).parse(value)
        assert str(caught.value) == f"{name} is {shown}; it must be {accepted}."


@pytest.mark.parametrize("one", NUMBERS, ids=lambda one: str(one.name))
def test_a_number_is_taken_up_to_its_bounds_and_not_beyond(one: Parameter) -> None:
    assert (one.parse(one.low), one.parse(str(one.high))) == (one.low, one.high)
    for outside in (one.low - 1, one.high + 1):
        with pytest.raises(BadInput, match=str(outside)):
            one.parse(outside)


def test_an_unknown_parameter_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(BadInput, match="NUM_SERVICES is not a parameter"):
        build({"NUM_SERVICES": 3})


@each_row
def test_requests_are_clients_times_services_times_requests_of_each_pair_with_as_many_clients_as_services(
    values: dict[str, Any], clients: int, requests: int
) -> None:
    assert (build(values).params["NUM_CLIENTS"], build(values).requests) == (clients, requests)


def test_the_same_work_has_the_same_name_however_it_was_said() -> None:
    one, other = build({"NUM_API_SERVICES": "3"}), build({"NUM_CLIENTS": 3, "NUM_API_SERVICES": 3, "CALC_TARGET": 1000})
    assert (one, one.cell_id) == (other, other.cell_id)


def test_parameters_that_are_not_read_are_dropped_and_no_part_of_the_name_but_must_be_valid() -> None:
    with_unread = build({"CALC_TARGET": 5, "NUM_MULTI_SOCKET": 3, "SELECT_MODE": "single"}, reads=COMMON)
    without = build({"CALC_TARGET": 5}, reads=COMMON)
    assert (with_unread, with_unread.cell_id) == (without, without.cell_id)
    assert set(with_unread.params) == set(COMMON)
    with pytest.raises(BadInput, match="NUM_MULTI_SOCKET is 0"):
        build({"NUM_MULTI_SOCKET": 0}, reads=COMMON)


def test_a_cells_name_stays_what_it_was_when_results_were_saved() -> None:
    assert build({"NUM_API_SERVICES": 2}, reads=("NUM_API_SERVICES",)).cell_id == "4-3.14t-7eea7bf5"


@given(VALUES, READS)
def test_a_cell_comes_back_from_the_json_that_a_child_is_told(values: dict[str, Value], reads: tuple[str, ...]) -> None:
    cell = build(values, reads)
    back = Cell.from_json(json.loads(json.dumps(cell.to_json())))
    assert back == cell
    assert back.cell_id == cell.cell_id == cell.to_json()["cell_id"]
    turned = {**cell.to_json(), "params": dict(reversed(cell.params.items()))}
    assert Cell.from_json(turned).cell_id == cell.cell_id  # whose values were stored in another order
