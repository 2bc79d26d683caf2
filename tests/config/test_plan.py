"""Plans: sweeps are products, blocks are permutations, and a stored plan means the same cells."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.run_plan import Plan, PlanRow
from core.cell import Cell
from core.messages import BadInput, message
from core.method import Method, Warmup
from core.runtime import RuntimeName
from record.saved_plan import Absent, Until
from systems import find
from tests.config.planning import planned, stored
from tests.tables import each_row

SWEEPS: dict[str, st.SearchStrategy[Any]] = {
    "NUM_CLIENTS": st.sampled_from([(None,), (1, 2)]),
    "NUM_MULTI_SOCKET": st.just((1, 5)),
    "REUSE_CLIENT": st.just((True, False)),
}
ROWS = st.builds(
    PlanRow,
    system=st.sampled_from([find(number) for number in "1234"]),
    values=st.fixed_dictionaries({}, optional=SWEEPS),
)
METHOD = Method(
    warmup=Warmup(seconds=0.5), duration_s=2.5, client_runtime="3.14t+gil", pin_services=(0, 3), pin_clients=(1,)
)
PLANS = st.builds(
    Plan,
    name=st.text(max_size=5),
    rows=st.lists(ROWS, min_size=1, max_size=3).map(tuple),
    runtimes=st.lists(st.sampled_from(["3.11", "3.14", "3.14t", "3.14t+gil"]), min_size=1, unique=True).map(tuple),
    blocks=st.integers(1, 5),
    scale=st.sampled_from([1.0, 0.1, 0.001]),
    description=st.text(max_size=5),
    aa=st.booleans(),
    until=st.builds(Until, width=st.sampled_from([0.0, 0.03]), seconds=st.sampled_from([0.0, 600.0])),
    method=st.sampled_from([METHOD, Method(warmup=Warmup(share=0.1))]),
)


def ids(cells: list[Cell]) -> list[str]:
    return [cell.cell_id for cell in cells]


@given(PLANS, st.integers(1, 5), st.integers(0, 2**32))
def test_a_block_is_every_cell_once_and_the_last_runtimes_again_for_a_a_also_of_a_plan_that_was_stored(
    some: Plan, number: int, seed: int
) -> None:
    names, entries = ids(some.cells()), some.block(number, seed)
    assert len(set(names)) == len(names) > 0
    once = [entry.cell for entry in entries if entry.arm == entry.cell.runtime]
    again = [entry.cell for entry in entries if entry.arm != entry.cell.runtime]
    assert sorted(ids(once)) == sorted(names)
    assert sorted(ids(again)) == sorted(cell.cell_id for cell in once if some.aa and cell.runtime == some.runtimes[-1])
    back = stored(some)
    assert back.saved().rows == some.saved().rows
    assert back.block(number, seed) == entries
    kept = ("name", "description", "blocks", "runtimes", "aa", "until", "method")
    assert [getattr(back, name) for name in kept] == [getattr(some, name) for name in kept]


@each_row
def test_a_scale_makes_the_requests_fewer_but_never_none_and_changes_nothing_else(line: str) -> None:
    full, scale, scaled = line.split()
    flags = f"--system 1 --runtime 3.11 --num-requests-per-client {full}"
    (whole,), (small,) = planned(flags).cells(), planned(f"{flags} --scale {scale}").cells()
    assert small.params == {**whole.params, "NUM_REQUESTS_PER_CLIENT": int(scaled)}


@each_row
def test_a_rate_is_refused_where_services_wait_for_a_clients_thread(number: str) -> None:
    line = f"--system {number} --rate 0,100 --num-api-services 1,4"
    assert planned(line).cells()
    with pytest.raises(BadInput, match="RATE is 100, NUM_THREADS_PER_CLIENT is 3 "):
        planned(f"{line} --num-threads-per-client 3,9")


def test_cells_say_whether_cores_are_held_awake_where_a_plan_does_and_else_have_the_name_they_had() -> None:
    without, both = planned("--system 4"), planned("--system 4 --keep-awake false,true")
    assert "KEEP_AWAKE" not in without.cells()[0].params
    assert {cell.params["KEEP_AWAKE"] for cell in both.cells()} == {False, True}
    assert len({*ids(without.cells()), *ids(both.cells())}) == 3 * len(without.cells())


# ---- native programs, and what is not there ------------------------------------------------------------------------


def test_cells_go_row_by_row_and_by_runtime_under_those_that_the_system_can_run_under() -> None:
    """libuv's server has no Python code, uvloop's has no native one, system 2 has both."""
    some = planned("--system echo-libuv,echo-uvloop,2,3 --runtime native,3.14t")
    pairs = [("echo-libuv", "native"), ("echo-uvloop", "3.14t"), ("2", "native"), ("2", "3.14t"), ("3", "3.14t")]
    assert [(cell.system, cell.runtime) for cell in some.cells()] == pairs
    assert [(system.key, runtime) for system, runtime in some.pairs()] == pairs


def test_what_is_absent_has_no_cells_but_stays_a_pair_and_is_looked_for_again_when_it_is_read() -> None:
    """A plan that is read again is asked again what is here: the reason may be gone."""
    why = message("not built: needs cargo")
    absent = {("2", "native"): why}
    some = replace(planned("--system 2 --runtime native,3.14t"), absent=absent, view="echo")
    assert [cell.runtime for cell in some.cells()] == ["3.14t"]
    assert [(system.key, runtime) for system, runtime in some.pairs()] == [("2", "native"), ("2", "3.14t")]
    saved = some.saved()
    assert saved.absent == (Absent(system="2", runtime=RuntimeName("native"), reason=why),)
    assert [row.runtimes for row in saved.rows] == [("3.14t",)]
    back = Plan.from_saved(saved)
    assert (back.absent, back.view) == ({}, "echo")
    assert [cell.runtime for cell in back.cells()] == ["native", "3.14t"]


def test_a_row_that_is_read_again_gets_back_what_it_named_and_not_what_it_excluded() -> None:
    """The other row of the system names the runtime that is absent."""
    absent = {("2", "3.14"): message("packages are missing")}
    values = {"NUM_API_SERVICES": (4,)}
    rows = (
        PlanRow(system=find("2"), values={}),
        PlanRow(system=find("2"), values=values, runtimes=(RuntimeName("3.14t"),)),
    )
    some = Plan(name="two", rows=rows, runtimes=(RuntimeName("3.14"), RuntimeName("3.14t")))
    assert [row.runtimes for row in replace(some, absent=absent).saved().rows] == [("3.14t",), ("3.14t",)]
    assert stored(replace(some, absent=absent)).cells() == some.cells()


def test_what_every_row_excludes_is_no_pair_and_so_never_absent() -> None:
    rows = (PlanRow(system=find("2"), values={}, runtimes=(RuntimeName("3.14t"),)),)
    some = Plan(name="one", rows=rows, runtimes=(RuntimeName("3.14t"), RuntimeName("native")))
    assert [runtime for _, runtime in some.pairs()] == ["3.14t"]


@each_row
def test_the_arm_against_itself_is_the_last_runtime_that_is_an_interpreter(line: str) -> None:
    names, _, again = line.partition(" ->")
    entries = planned(f"--system 2 --aa --runtime {names}").entries()
    assert [entry.arm for entry in entries] == [*names.split(","), *filter(None, [again.strip()])]


def test_rows_with_the_same_values_under_different_runtimes_are_both_measured_again_from_a_stored_plan() -> None:
    under = [PlanRow(system=find("2"), values={}, runtimes=(RuntimeName(name),)) for name in ("3.14t", "3.11")]
    some = Plan(name="two", rows=tuple(under), runtimes=(RuntimeName("3.11"), RuntimeName("3.14t")))
    assert [cell.runtime for cell in stored(some).cells()] == ["3.11", "3.14t"]
    assert sorted(ids(stored(some).cells())) == sorted(ids(some.cells()))
