"""Settings and variants of a service: what is measured, with which command, and that it is stored and read again."""

import json
from operator import attrgetter
from pathlib import Path

import pytest

from config.load import load_plan
from config.run_plan import Plan
from config.user_service.service_flags import restore_secrets, secrets_in_flags
from core.messages import BadInput
from core.secret import revealed
from core.user_service import App, Command, UserService
from lab.user_service.command import Endpoint, command_environment, fill_placeholders
from tests.config.planning import COMMAND_LINE, cells_of_one, command_of, parsed, planned, service_of, stored
from tests.tables import each_row

APP = "--app shop:app --server gunicorn"


def settings(plan: Plan, *names: str) -> list[tuple[object, ...]]:
    """The values of these parameters in each cell under the first runtime."""
    return [tuple([cell.params[name] for name in names]) for cell in cells_of_one(plan)]


def variants(plan: Plan) -> dict[str, Command]:
    return dict(service_of(plan).variants)


def test_each_combination_of_settings_is_a_cell_and_all_are_one_sweep_of_each() -> None:
    plan = planned(f"{COMMAND_LINE} --vary POOL=1,8 --vary MODE=lazy,eager,08")
    pools, modes = (1, 8), ("lazy", "eager", "08")
    assert settings(plan, "POOL", "MODE") == [(pool, mode) for pool in pools for mode in modes]
    assert plan.swept == {"own": {"POOL", "MODE"}}
    assert stored(plan).cells() == plan.cells()
    assert stored(plan).swept == plan.swept


def test_numbers_of_processes_and_threads_and_topologies_are_parameters() -> None:
    shape = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE"
    assert settings(planned(f"{APP} --vary threads=1,8 --vary workers=1,2"), *shape) == [(1, 1), (1, 8), (2, 1), (2, 8)]
    assert settings(planned(f"{APP} --vary topology=2x1,1x2"), *shape) == [(2, 1), (1, 2)]


def test_a_setting_replaces_its_place_in_the_command_or_is_a_variable_that_the_build_knows() -> None:
    line = "--service-command '{python} app.py {port} --pool={pool} {POOL}'"
    plan = planned(f"{line} --vary pool=1,8 --vary POOL=1,8 --vary MODE=a,b --vary PYTHON_GIL=0,1")
    own = {**vars(command_of(plan)), "python": "/bin/python", "variables": {}, "expected_python": "3.14.7"}
    endpoint = Endpoint(host="127.0.0.1", port=8000, socket="")
    values = {"pool": 8, "POOL": 1, "MODE": "b"}
    cell = next(cell for cell in plan.cells() if values.items() <= cell.params.items())
    assert fill_placeholders(own, endpoint, cell.params) == ["/bin/python", "app.py", "8000", "--pool=8", "1"]
    environment = command_environment(own, cell.params, {})
    assert environment["MODE"] == "b"
    assert not {"pool", "POOL", "PYTHON_GIL"} & {*environment}
    assert "PYTHON_GIL" in command_environment({**own, "expected_python": "3.14.7t"}, cell.params, {})


def test_each_server_is_a_variant_with_its_own_command() -> None:
    plan = planned(f"{APP} --vary server=gunicorn,granian")
    assert settings(plan, "server") == [("gunicorn",), ("granian",)]
    assert plan.swept == {"own": {"server"}}
    systems = {entry.cell.params["server"]: entry.system.child_config["own"]["command"] for entry in plan.entries()}
    assert "-m gunicorn" in systems["gunicorn"]
    assert "-m granian" in systems["granian"]
    assert [entry.system for entry in stored(plan).entries()] == [entry.system for entry in plan.entries()]


def test_a_variant_differs_from_the_service_in_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "needs.txt").write_text("django")
    needs = str(tmp_path / "needs.txt")
    old_flags = f"--variant old:requirements=django==5.1 --variant old:requirements={needs} --variant old:env=SHOP=2"
    new_flags = f"--variant new:requirements={needs} --variant new:ref=main"
    plan = planned(f"{APP} --env SHOP=1 --directory {tmp_path} {old_flags} {new_flags}")
    old, new = variants(plan).values()
    assert (old.overrides, old.requirements, revealed(old.environment["SHOP"])) == (("django==5.1",), needs, "2")
    assert (new.overrides, new.requirements, revealed(new.environment["SHOP"])) == ((), needs, "1")
    assert (old.ref, old.repository, new.ref, new.repository) == ("", "", "main", str(tmp_path))
    assert isinstance(old, App)
    kept = attrgetter("overrides", "requirements", "ref", "repository")
    assert {name: kept(one) for name, one in variants(stored(plan)).items()} == {"old": kept(old), "new": kept(new)}


def test_a_plan_file_has_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(
        "service:\n  command: '{python} app.py {port}'\n  vary: {POOL: [1, 8]}\n"
        "  variants: {before: {ref: main}, after: {environment: {FAST: '1'}}}\n"
    )
    plan = load_plan(path)
    assert settings(plan, "variant", "POOL") == [("before", 1), ("before", 8), ("after", 1), ("after", 8)]
    assert variants(plan)["before"].repository == str(tmp_path)


@pytest.mark.parametrize("value", ["hunter2", "a=hunter2"])
def test_the_value_of_a_variable_reaches_the_command_but_no_file(value: str) -> None:
    plan = planned(f"{COMMAND_LINE} --variant a:env=TOKEN={value} --variant b:env=OTHER=1")
    assert revealed(variants(plan)["a"].environment["TOKEN"]) == value
    assert "hunter2" not in json.dumps(service_of(plan).to_json())


def test_a_run_that_goes_on_gets_the_variables_of_each_variant_again() -> None:
    given = ["--variant a:env=TOKEN=one", "--variant b:env=TOKEN=two"]
    plan = planned(f"{COMMAND_LINE} {' '.join(given)}")
    own = service_of(plan).to_json()
    (first,) = secrets_in_flags(parsed(given[0]))
    with pytest.raises(BadInput, match="does not contain the value of --variant b:env TOKEN"):
        restore_secrets(own, [first], [])
    restored = restore_secrets(own, secrets_in_flags(parsed(" ".join(reversed(given)))), [])
    assert restored
    again = UserService.from_json(restored).variants
    assert {name: revealed(one.environment["TOKEN"]) for name, one in again.items()} == {"a": "one", "b": "two"}
    assert secrets_in_flags(parsed("--variant b:ref=x")) == []


@each_row
def test_any_name_of_a_branch_is_a_ref(ref: str) -> None:
    plan = planned(f"{COMMAND_LINE} --variant a:ref={ref} --variant b:ref=main")
    assert variants(plan)["a"].ref == ref


def test_a_threshold_on_variants_asks_for_verdicts_on_variants_alone() -> None:
    line = f"{COMMAND_LINE} --variant a:env=X=1 --variant b:env=X=2"
    plan = planned(f"{line} --fail-if-slower 5%")
    assert (plan.judged_steps, plan.swept) == (("value",), {"own": {"variant"}})
    assert stored(plan).judged_steps == ("value",)
    assert planned(line).judged_steps == ()
