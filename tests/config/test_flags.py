"""Flags: one for every parameter, and a plan that they make together with a file."""

from pathlib import Path
from typing import Any

import pytest

from config.flags import Parser, add_plan_flags, add_run_flags, plan_from, systems_help, value_of
from config.load import load_experiment
from config.plan import Plan
from config.plan_options import DEFAULT_RUNTIMES, INTERPRETER, REQUIRE
from core.cell import PARAMETERS, Cell, Parameter
from core.errors import BadInput
from core.messages import message
from systems import built_in


def parsed(*arguments: str) -> dict[str, Any]:
    parser = Parser("test", message("a test"))
    add_plan_flags(parser)
    return parser.parse(arguments)


def planned(*arguments: str) -> Plan:
    return plan_from(parsed(*arguments))


def cells(*arguments: str) -> list[Cell]:
    """The cells of the plan under one runtime."""
    return planned("--runtime", "3.14t", *arguments).cells() or planned("--runtime", "native", *arguments).cells()


def complaint(*arguments: str) -> str:
    with pytest.raises(BadInput) as caught:
        planned(*arguments)
    return str(caught.value)


def plan_file(folder: Path, text: str) -> str:
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    return str(folder / "mine.yaml")


def test_without_flags_the_plan_is_the_default() -> None:
    assert planned().name == "default"
    assert planned().runtimes == (*DEFAULT_RUNTIMES, "native")


@pytest.mark.parametrize("one", PARAMETERS.values(), ids=list(PARAMETERS))
def test_every_parameter_has_a_flag_that_takes_several_values(one: Parameter) -> None:
    system = next(system.key for system in built_in() if system.takes(one.name))
    two = ["true", "false"] if one.kind is bool else list(one.choices[:2]) or [str(one.low), str(one.low + 1)]
    found = [cell.params[one.name] for cell in cells("--system", system, one.flag, ",".join(two))]
    assert found == [one.parse(value) for value in two]


def test_the_flags_of_the_specification_make_its_sweep() -> None:
    swept = cells("--system", "4", "--num-multi-socket", "1,5,10", "--select-mode", "all,single")
    assert {(cell.num_multi_socket, cell.select_mode) for cell in swept} == {
        (sockets, mode) for sockets in (1, 5, 10) for mode in ("all", "single")
    }
    assert len(swept) == 6


@pytest.mark.parametrize(
    ("asked", "systems"),
    [("4", "4"), ("pool", "4"), ("all", "1234"), ("1,3", "13"), ("3, 1", "31"), ("1,fresh", "1")],
)
def test_system_takes_a_number_a_name_several_or_all(asked: str, systems: str) -> None:
    assert [cell.system for cell in cells("--system", asked)] == list(systems)


def test_a_flag_takes_the_place_of_what_rows_say() -> None:
    assert {cell.num_multi_socket for cell in cells("--experiment", "record", "--system", "4")} == {1, 5, 10}
    changed = cells("--experiment", "record", "--system", "4", "--num-multi-socket", "3")
    assert {cell.num_multi_socket for cell in changed} == {3}
    assert {cell.select_mode for cell in changed} == {"all", "single"}


def test_a_flag_changes_the_systems_that_read_it_and_leaves_the_others() -> None:
    plain, changed = cells(), cells("--num-multi-socket", "3")
    assert [cell.cell_id for cell in changed[:3]] == [cell.cell_id for cell in plain[:3]]
    assert changed[3].num_multi_socket == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--system", "1", "--num-multi-socket", "5"],
            "--num-multi-socket (NUM_MULTI_SOCKET) is not read by system 1; it is read by system 4.",
        ),
        (
            ["--system", "1,3", "--selector", "poll"],
            "--selector (SELECTOR) is not read by system 1 or 3; it is read by system 2, 4",
        ),
        (
            ["--system", "3", "--transport", "unix"],
            "--transport (TRANSPORT) is not read by system 3; it is read by system 1, 2, 4",
        ),
    ],
)
def test_a_flag_that_no_chosen_system_reads_is_an_error_that_names_who_reads_it(
    arguments: list[str], said: str
) -> None:
    assert said in complaint(*arguments)


def test_runtimes_blocks_and_scale_take_the_place_of_the_plans() -> None:
    plan = planned("--experiment", "quick", "--runtime", "3.14t, 3.11,3.14t", "--blocks", "7", "--scale", "0.1")
    assert (plan.runtimes, plan.blocks, plan.scale) == (("3.14t", "3.11"), 7, 0.1)


def test_a_plan_of_ones_own_is_narrowed_and_changed_by_flags(tmp_path: Path) -> None:
    file = plan_file(tmp_path, "rows: [{system: 1}, {system: 4, NUM_MULTI_SOCKET: [1, 5]}]\nblocks: 2")
    assert len(cells("--plan", file)) == 3
    assert [cell.num_multi_socket for cell in cells("--plan", file, "--system", "4")] == [1, 5]
    assert [cell.calc_target for cell in cells("--plan", file, "--system", "1", "--calc-target", "5,6")] == [5, 6]
    assert planned("--plan", file).blocks == 2


def test_a_system_that_the_plan_has_no_row_for_is_an_error(tmp_path: Path) -> None:
    file = plan_file(tmp_path, "rows: [{system: 1}, {system: 4}]")
    assert "--system is 2; plan mine has rows for system 1, 4." in complaint(*["--plan", file, "--system", "2"])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--system", "9"], ["System '9' is not known", "1 (fresh)"]),
        (["--system", ""], ["System '' is not known"]),
        (["--system", "1,"], ["System '' is not known"]),
        (["--experiment", "nope"], ["Experiment 'nope' is not known", "quick"]),
        (["--experiment", ""], ["Experiment '' is not known", "quick"]),
        (["--plan", "nowhere.yaml"], ["nowhere.yaml cannot be read"]),
        (["--plan", ""], ["cannot be read"]),
        (["--plan", "a.yaml", "--experiment", "quick"], ["--plan is a.yaml and --experiment is quick", "only one"]),
        (["--runtime", "python"], ["Runtime 'python'", "3.11, 3.14"]),
        (["--runtime", ""], ["Runtime ''"]),
        (["--runtime", "3.11,,3.14"], ["Runtime ''"]),
        (["--runtime", "3.14+gil"], ["'3.14+gil'", "free-threaded"]),
        (["--blocks", "0"], ["blocks is 0", "a whole number"]),
        (["--blocks", "-1"], ["--blocks is -1", "a whole number"]),
        (["--blocks", "2.5"], ["--blocks is 2.5", "a whole number"]),
        (["--blocks", "9" * 5000], ["--blocks is 9", "a whole number"]),
        (["--blocks", "²"], ["--blocks is ²", "a whole number"]),
        (["--scale", "0"], ["scale is 0", "above 0"]),
        (["--scale", "2"], ["scale is 2", "at most 1"]),
        (["--scale", "nan"], ["scale is nan", "above 0"]),
        (["--scale", "half"], ["--scale is half", "above 0"]),
        (["--num-api-services", "0"], ["NUM_API_SERVICES is 0", "a whole number from 1 to 1000"]),
        (["--num-clients", "1,x"], ["NUM_CLIENTS is x"]),
        (["--num-clients", ""], ["NUM_CLIENTS is", "a whole number"]),
        (["--reuse-client", "perhaps"], ["REUSE_CLIENT is perhaps", "true or false"]),
        (["--num-max-conns", "0"], ["NUM_MAX_CONNS is 0", "or none"]),
        (["--duration", "1e3"], ["duration is 1e3", "seconds from 0 to 86400"]),
        (["--warmup", "5"], ["warmup is 5", "10%"]),
        (["--until", "0%"], ["until is 0%", "3%", "10min"]),
        (["--client-runtime", "python"], ["Runtime 'python'", "3.11, 3.14"]),
        (["--pin", "clients"], ["pin clients is", "CPU numbers"]),
        (["--pin", "both=1"], ["pin is", "services, clients or both"]),
        (["--pin", "services=5-3"], ["pin services is 5-3", "CPU numbers"]),
        (["--select-mode", "any"], ["SELECT_MODE is any", "one of all, single"]),
        (["--nope"], ["--nope", "test --help"]),
        (["--num-client", "5"], ["--num-client", "test --help"]),
        (["stray"], ["stray", "test --help"]),
        (["--blocks"], ["--blocks", "expected one argument"]),
    ],
    ids=lambda value: " ".join(value)[:50],
)
def test_a_bad_flag_is_an_error_that_names_flag_value_and_what_is_accepted(
    arguments: list[str], parts: list[str]
) -> None:
    said = complaint(*arguments)
    for part in parts:
        assert part in said


def test_required_runtimes_are_none_unless_given() -> None:
    assert value_of(REQUIRE, parsed()) is None
    assert value_of(REQUIRE, parsed("--require", "3.11,3.14t")) == ("3.11", "3.14t")
    with pytest.raises(BadInput, match="''"):
        value_of(REQUIRE, parsed("--require", ""))


def test_interpreters_are_chosen_by_name_and_path() -> None:
    given = parsed("--interpreter", "3.11=/a=b", "--interpreter", "3.14t+gil=/t")
    assert value_of(INTERPRETER, given) == {"3.11": Path("/a=b"), "3.14t": Path("/t")}
    assert value_of(INTERPRETER, parsed()) is None


@pytest.mark.parametrize("text", ["3.11", "3.11=", "=/usr/bin/python3", "python=/usr/bin/python3", ""])
def test_an_interpreter_without_name_or_path_is_an_error(text: str) -> None:
    with pytest.raises(BadInput, match=r"NAME=PATH|is not a runtime's name"):
        value_of(INTERPRETER, parsed("--interpreter", text))


def test_help_lists_every_parameter_with_what_it_takes_and_every_system() -> None:
    parser = Parser("test", message("a test"))
    add_plan_flags(parser)
    text = " ".join(parser.format_help().split())
    for one in PARAMETERS.values():
        assert one.flag in text
        assert str(one.accepted) in text
    for system in built_in():
        assert str(system.title) in systems_help()


def test_an_experiment_beside_an_application_says_how_it_is_measured() -> None:
    flags = ("--app", "shop:app", "--server", "gunicorn", "--experiment", "patch-regression")
    parser = Parser("test", message("a test"))
    add_run_flags(parser)
    plan = plan_from(parser.parse([*flags, "--fail-if-slower", "12.5%", "--runtime", "3.14.5t,3.14.6t"]))
    assert list(plan.systems) == ["own"]
    assert plan.fail_if_slower == 0.125
    assert plan.runtimes == ("3.14.5t", "3.14.6t")
    assert plan.blocks == load_experiment("patch-regression").blocks
    assert Plan.from_json(plan.to_json()).fail_if_slower == 0.125


@pytest.mark.parametrize("text", ["", "5", "0.05", "0%", "-5%", "1001%", "five%", "5%%", "nan%", "1e1%", "٥%"])
def test_a_threshold_is_a_percentage_of_more_time(text: str) -> None:
    assert f"--fail-if-slower is {text}; it must be" in complaint("--system", "2", f"--fail-if-slower={text}")
