"""Flags: one for every parameter, and a plan that they make together with a file."""

from pathlib import Path

import pytest

from config.flags import value_of
from config.load import load_experiment
from config.plan_options import DEFAULT_RUNTIMES, INTERPRETER
from core.cell import PARAMETERS, Cell, Parameter
from core.messages import BadInput
from systems import built_in
from tests.config.planning import parsed, planned, stored
from tests.tables import each_row


def cells(line: str) -> list[Cell]:
    """The cells of the plan under one runtime."""
    return planned(f"{line} --runtime 3.14t").cells() or planned(f"{line} --runtime native").cells()


@pytest.mark.parametrize("one", PARAMETERS.values(), ids=list(PARAMETERS))
def test_every_parameter_has_a_flag_that_takes_several_values(one: Parameter) -> None:
    system = next(system.key for system in built_in() if system.takes(one.name))
    two = ["true", "false"] if one.kind is bool else list(one.choices[:2]) or [str(one.low), str(one.low + 1)]
    found = [cell.params[one.name] for cell in cells(f"--system {system} {one.flag} {two[0]},{two[1]}")]
    assert found == [one.parse(value) for value in two]


@each_row
def test_system_takes_a_number_a_name_several_or_all(line: str) -> None:
    asked, systems = line.split(" -> ")
    assert [cell.system for cell in cells(f"--system '{asked}'")] == list(systems)


def test_without_flags_the_plan_is_the_default_and_runtimes_blocks_and_scale_take_the_place_of_a_plans() -> None:
    assert (planned().name, planned().runtimes) == ("default", (*DEFAULT_RUNTIMES, "native"))
    plan = planned("--experiment quick --runtime '3.14t, 3.11,3.14t' --blocks 7 --scale 0.1")
    assert (plan.runtimes, plan.blocks, plan.scale) == (("3.14t", "3.11"), 7, 0.1)


def test_a_plan_of_ones_own_is_narrowed_and_changed_by_flags_for_the_systems_that_read_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("rows: [{system: 1}, {system: 4, NUM_MULTI_SOCKET: [1, 5]}]\nblocks: 2")
    line = f"--plan {path}"
    assert (len(cells(line)), planned(line).blocks) == (3, 2)
    assert [cell.num_multi_socket for cell in cells(f"{line} --system 4")] == [1, 5]
    changed = cells(f"{line} --num-multi-socket 3 --calc-target 5,6")
    assert [(cell.params.get("NUM_MULTI_SOCKET"), cell.calc_target) for cell in changed] == [
        *[(None, 5), (None, 6), (3, 5), (3, 6)]
    ]
    with pytest.raises(BadInput, match="--system is 2, but plan mine has no rows for it"):
        planned(f"{line} --system 2")


def test_limits_are_kept_with_the_plan() -> None:
    plan = planned("--cpus 0.5 --memory 1.5GiB")
    assert (plan.method.limit_cpus, plan.method.limit_memory_bytes) == (0.5, 1_610_612_736)
    assert stored(plan).method == plan.method


def test_interpreters_have_a_name_and_a_path() -> None:
    assert value_of(INTERPRETER, parsed()) is None
    given = parsed("--interpreter 3.11=/a=b --interpreter 3.14t+gil=/t")
    assert value_of(INTERPRETER, given) == {"3.11": Path("/a=b"), "3.14t": Path("/t")}
    for text in ("3.11", "3.11=", "=/usr/bin/python3", "python=/usr/bin/python3", ""):
        with pytest.raises(BadInput, match=r"NAME=PATH|name"):
            value_of(INTERPRETER, parsed(f"--interpreter '{text}'"))


def test_an_experiment_beside_an_application_says_how_it_is_measured() -> None:
    flags = "--experiment patch-regression --fail-if-slower 12.5% --runtime 3.14.5t,3.14.6t"
    plan = planned(f"--app shop:app --server gunicorn {flags}")
    assert list(plan.systems) == ["own"]
    assert plan.fail_if_slower == 0.125
    assert plan.runtimes == ("3.14.5t", "3.14.6t")
    assert plan.blocks == load_experiment("patch-regression").blocks
    assert stored(plan).fail_if_slower == 0.125
