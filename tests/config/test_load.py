"""Plans from YAML: what is right is read as it is written, and topologies of a row. refused.txt has what is wrong."""

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from config.load import load_experiment, load_plan, plan_with
from config.options import Given, parsed
from config.plan_options import PLAN_OPTIONS, parse_until
from config.run_plan import Plan
from core.cell import PARAMETERS
from core.messages import BadInput
from core.method import Method, Warmup
from lab.places import REPOSITORY
from record.run_file import load
from tests.config.planning import cells_of_one, stored
from tests.tables import table


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.yaml"


def loaded(file: Path, text: str) -> Plan:
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    return load_plan(file)


READ = """
description: >
  What it
  answers.
blocks: 5
runtimes: [3.20, 3.20t]
parameters: {NUM_MULTI_SOCKET: [2, 3], CALC_TARGET: 6}
rows:
  - {system: 1}
  - {system: 4, title: many sockets}
  - {system: pool, NUM_MULTI_SOCKET: ' 1, 5,05'}
  - {system: [3, "1"], CALC_TARGET: [1, '5', 05]}
  - {system: 2, REUSE_CLIENT: TRUE, NUM_MAX_CONNS: none}
"""


def test_a_plan_is_read_with_all_its_keys_and_values_as_flags_are(file: Path) -> None:
    """A row takes of the plan's values those that its system reads, and its own before them.

    A runtime that looks like a number stays text. A list of systems is a row for each.
    """
    plan = loaded(file, READ)
    assert (plan.name, plan.description, plan.blocks) == ("mine", "What it answers.", 5)
    assert plan.runtimes == ("3.20", "3.20t")
    assert [row.system.key for row in plan.rows] == list("144312")
    assert plan.rows[1].title == "many sockets"
    cells = cells_of_one(plan)
    found = [(one.system, one.params.get("NUM_MULTI_SOCKET"), one.calc_target) for one in cells]
    assert found[:5] == [("1", None, 6), ("4", 2, 6), ("4", 3, 6), ("4", 1, 6), ("4", 5, 6)]
    assert found[5:] == [("3", None, 1), ("3", None, 5), ("1", None, 1), ("1", None, 5), ("2", None, 6)]
    assert (cells[-1].reuse_client, cells[-1].num_max_conns) == (True, None)


LAUGHS = f"description: &a {'x' * 99_999}\nrows: [{'*a, ' * 9999}]"


@pytest.mark.parametrize("text", [*table(__file__), LAUGHS, "rows: " + "[" * 20_000], ids=lambda text: ascii(text[:24]))
def test_what_is_not_yaml_is_refused(file: Path, text: str) -> None:
    with pytest.raises(BadInput, match=f"^{file} is not valid YAML: .*$"):
        loaded(file, text)


SCALARS = st.sampled_from(["1", "4", "pool", "", "0", "x", "true", "all", "3.14t", "5,6"])
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(SCALARS, inner, max_size=2), max_leaves=3
)
VALID = st.sampled_from(["1", "2", "3", "4"]) | ANYTHING
A_ROW = st.fixed_dictionaries({"system": VALID}, optional=dict.fromkeys(PARAMETERS, ANYTHING))
A_PLAN = st.fixed_dictionaries(
    {"rows": st.lists(A_ROW, max_size=2)},
    optional={"blocks": ANYTHING, "runtimes": ANYTHING, "description": ANYTHING, "parameters": ANYTHING},
)


@given(A_PLAN)
@example({"rows": [{"system": []}]})
def test_any_yaml_is_a_plan_with_cells_or_is_refused(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    with suppress(BadInput):
        assert loaded(file, yaml.safe_dump(content)).cells()


def test_quick_is_the_four_systems_in_one_process_and_system_2_once_more_in_a_process_per_core() -> None:
    plan = load_experiment("quick", cores=3)
    assert plan.judged_steps == ("lock", "whole")
    services = {(cell.system, cell.num_api_services): cell.num_clients for cell in plan.cells()}
    assert services == {**{(system, 1): 6 for system in "1234"}, ("2", 3): 6}
    assert [cell.runtime for cell in plan.cells() if cell.num_api_services == 3] == ["3.14t+gil", "3.14t"]
    assert stored(plan).cells() == plan.cells()
    assert plan.blocks * plan.method.duration_s >= 2


def test_default_has_the_seeds_values_and_record_the_rows_of_the_record() -> None:
    assert [(cell.system, cell.requests) for cell in cells_of_one(load_experiment("default"))] == [
        (system, 400_000) for system in "1234"
    ]
    ours, kept = load_experiment("record").saved().rows, load(REPOSITORY / "docs" / "record").plan.rows
    assert [(row.system, row.params) for row in ours] == [(row.system, row.params) for row in kept]


# Width, seconds and whether a verdict is enough.
UNTIL = """\
3% -> 0.03 0 False
0.5 % -> 0.005 0 False
600s -> 0 600 False
10min -> 0 600 False
1.5h -> 0 5400 False
3%,10min -> 0.03 600 False
1h, 5% -> 0.05 3600 False
verdict,15min -> 0 900 True"""


@pytest.mark.parametrize("line", UNTIL.splitlines())
def test_until_is_a_width_a_time_or_both(line: str) -> None:
    text, _, meant = line.partition(" -> ")
    until = parse_until(Given(value=text, name="until"))
    assert f"{until.width:g} {until.seconds:g} {until.verdict}" == meant


def test_a_method_keeps_what_is_not_said_anew() -> None:
    base = Method(warmup=Warmup(share=0.1), duration_s=3.0, client_runtime="3.14t+gil")
    plan = Plan(name="p", rows=(), runtimes=(), method=base)
    given: tuple[dict[str, Any], ...] = ({}, {"duration": "1"}, {"client_runtime": "same"}, {"pin": {"clients": "0"}})
    methods = [plan_with(plan, parsed(PLAN_OPTIONS, one, Path())).method for one in given]
    assert methods == [
        base,
        replace(base, duration_s=1.0),
        replace(base, client_runtime="same"),
        replace(base, pin_clients=(0,)),
    ]


@pytest.mark.parametrize("name", ["nothing.yaml", ""])
def test_a_plan_that_is_not_there_or_a_folder_is_told_with_its_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=f"{re.escape(str(tmp_path / name))}.* cannot be read"):
        load_plan(tmp_path / name)


# Cores, what else the row says, what the plan says, and services x workers x clients of each cell.
ROWS = """\
4 | | -> 4x1x8 2x2x8 1x4x8 1x25x8
6 | | -> 6x1x12 3x2x12 1x6x12 1x25x12
25 | | -> 25x1x50 12x2x50 6x4x50 3x8x50 1x25x50
1 | | -> 1x1x4 1x25x4
1 | , NUM_CLIENTS: 3, CALC_TARGET: [0, 10] | -> 1x1x3 1x1x3 1x25x3 1x25x3
1 | | parameters: {NUM_CLIENTS: 3} -> 1x1x3 1x25x3"""


@pytest.mark.parametrize("line", ROWS.splitlines())
def test_a_row_with_a_topology_is_a_row_for_each_with_two_clients_a_core_but_at_least_four_unless_it_says(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, _, shapes = line.partition(" -> ")
    cores, row, head = given.split("|")
    monkeypatch.setattr("config.load.cores_usable", lambda: int(cores))
    path = tmp_path / "mine.yaml"
    path.write_text(f"runtimes: ['3.14t']\n{head.strip()}\nrows:\n  - {{system: 2, topology: cores{row}}}\n")
    cells = load_plan(path).cells()
    found = [f"{one.num_api_services}x{one.num_workers_per_api_service}x{one.num_clients}" for one in cells]
    assert " ".join(found) == shapes
