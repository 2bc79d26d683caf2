"""Flags: one for every parameter, and a plan that they make together with a file."""

from pathlib import Path
from typing import Any

import pytest

from config.flags import Parser, add_run_flags, plan_from, value_of
from config.load import load_experiment
from config.plan import Plan
from config.plan_options import DEFAULT_RUNTIMES, INTERPRETER, MAX_BLOCKS, REQUIRE
from core.cell import PARAMETERS, Cell, Parameter
from core.errors import BadInput
from core.messages import message
from systems import built_in
from tests.config import planning


def parsed(*arguments: str) -> dict[str, Any]:
    parser = Parser("test", message("a test"))
    add_run_flags(parser)
    return parser.parse(arguments)


def planned(*arguments: str) -> Plan:
    return plan_from(parsed(*arguments))


def cells(*arguments: str) -> list[Cell]:
    """The cells of the plan under one runtime."""
    return planned("--runtime", "3.14t", *arguments).cells() or planned("--runtime", "native", *arguments).cells()


def test_without_flags_the_plan_is_the_default() -> None:
    assert planned().name == "default"
    assert planned().runtimes == (*DEFAULT_RUNTIMES, "native")


@pytest.mark.parametrize("one", PARAMETERS.values(), ids=list(PARAMETERS))
def test_every_parameter_has_a_flag_that_takes_several_values(one: Parameter) -> None:
    system = next(system.key for system in built_in() if system.takes(one.name))
    two = ["true", "false"] if one.kind is bool else list(one.choices[:2]) or [str(one.low), str(one.low + 1)]
    found = [cell.params[one.name] for cell in cells("--system", system, one.flag, ",".join(two))]
    assert found == [one.parse(value) for value in two]


@pytest.mark.parametrize(
    ("asked", "systems"),
    [("4", "4"), ("pool", "4"), ("all", "1234"), ("1,3", "13"), ("3, 1", "31"), ("1,fresh", "1")],
)
def test_system_takes_a_number_a_name_several_or_all(asked: str, systems: str) -> None:
    assert [cell.system for cell in cells("--system", asked)] == list(systems)


BAD_FLAGS = {
    "--system 1 --num-multi-socket 5": "system 1 does not use NUM_MULTI_SOCKET. Systems that use it: 4.",
    "--system 1,3 --selector poll": "system 1 or 3 does not use SELECTOR. Systems that use it: 2, 4",
    "--system 9": "1 (fresh)",
    "--system=": "System ''",
    "--system 1,": "System ''",
    "--experiment nope": "quick",
    "--plan nowhere.yaml": "nowhere.yaml cannot be read",
    "--plan=": "cannot be read",
    "--plan a.yaml --experiment quick": "--plan is a.yaml and --experiment is quick",
    "--runtime python": "Runtime 'python'",
    "--runtime=": "Runtime ''",
    "--runtime 3.11,,3.14": "Runtime ''",
    "--runtime 3.14+gil": "free-threaded",
    "--blocks 0": "blocks is 0",
    f"--blocks {'9' * 5000}": "--blocks is 9",
    "--blocks ²": "--blocks is ²",
    f"--blocks {MAX_BLOCKS + 1}": f"--blocks is {MAX_BLOCKS + 1}",
    **{f"--scale {scale}": f"--scale is {scale}" for scale in ("0", "-0.1", "1.01", "2", "nan", "inf", "half")},
    "--num-clients 1,x": "NUM_CLIENTS is x; it must be a whole number",
    "--num-clients=": "NUM_CLIENTS is",
    "--num-max-conns 0": "or none",
    "--duration 1e3": "--duration is 1e3",
    "--warmup 5": "--warmup is 5",
    "--until 0%": "until is 0%",
    **{
        f"--system 2 --slo={text}": f"--slo is {text!r}"
        for text in (
            "p99",
            "p99<0ms",
            "p100<1ms",
            "p0<1ms",
            "p99<5",
            "errors<0%",
            "errors<100%",
            "p99<50ms;rm",
            "p99<١ms",
        )
    },
    "--system 2 --arrivals often": "--arrivals is often",
    "--client-runtime python": "Runtime 'python'",
    "--pin clients": "pin clients is",
    "--pin both=1": "pin is",
    "--pin services=5-3": "pin services is 5-3",
    "--cpus 0": "--cpus is 0; it must be a number of cores from 0.01 to",
    "--cpus 99999": "--cpus is 99999",
    "--memory 512": "--memory is 512; it must be a size with one of the units GiB, GB, MiB, MB",
    **{
        f"--system 2 --fail-if-slower={text}": f"--fail-if-slower is {text}; it must be"
        for text in ("", "5", "0.05", "0%", "-5%", "1001%", "five%", "5%%", "nan%", "1e1%", "٥%")
    },
    "--system 2 --slo=p99<50": "without a unit (us, ms, s)",
    "--system 2 --slo=errors<1": "without a unit (%)",
    "--threads 4": "Did you mean --topology or --num-connections-per-client?",
    "--num-requests 100": "Did you mean --num-requests-per-client?",
    "--block 1": "Did you mean --blocks?",
    "--app a:b --server gunicron": "--server is gunicron",
    "--app a:b --server gunicorn --request get": "--request is get",
    "--app a:b --server gunicorn --expect-status 20": "--expect-status is 20",
    "--service-command x --service-port x": "--service-port is x",
    "--nope": "test --help",
    "--num-client 5": "--num-client",
    "stray": "stray",
    "--blocks": "expected one argument",
}


@pytest.mark.parametrize(("line", "said"), BAD_FLAGS.items(), ids=lambda value: value[:50])
def test_a_bad_flag_is_an_error_that_names_flag_value_and_what_is_accepted(line: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        planned(*line.split())
    assert said in str(caught.value)


def test_runtimes_blocks_and_scale_take_the_place_of_the_plans() -> None:
    plan = planned("--experiment", "quick", "--runtime", "3.14t, 3.11,3.14t", "--blocks", "7", "--scale", "0.1")
    assert (plan.runtimes, plan.blocks, plan.scale) == (("3.14t", "3.11"), 7, 0.1)


def test_a_plan_of_ones_own_is_narrowed_and_changed_by_flags_for_the_systems_that_read_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("rows: [{system: 1}, {system: 4, NUM_MULTI_SOCKET: [1, 5]}]\nblocks: 2")
    file = str(path)
    assert (len(cells("--plan", file)), planned("--plan", file).blocks) == (3, 2)
    assert [cell.num_multi_socket for cell in cells("--plan", file, "--system", "4")] == [1, 5]
    changed = cells("--plan", file, "--num-multi-socket", "3", "--calc-target", "5,6")
    assert [(cell.params.get("NUM_MULTI_SOCKET"), cell.calc_target) for cell in changed] == [
        *[(None, 5), (None, 6), (3, 5), (3, 6)]
    ]
    with pytest.raises(BadInput, match="--system is 2, but plan mine has no rows for it"):
        planned("--plan", file, "--system", "2")


def test_limits_are_kept_with_the_plan() -> None:
    plan = planned("--cpus", "0.5", "--memory", "1.5GiB")
    assert (plan.method.limit_cpus, plan.method.limit_memory_bytes) == (0.5, 1_610_612_736)
    assert Plan.from_json(plan.to_json()).method == plan.method


def test_required_runtimes_and_interpreters_by_name_and_path_are_none_unless_given() -> None:
    assert (value_of(REQUIRE, parsed()), value_of(INTERPRETER, parsed())) == (None, None)
    assert value_of(REQUIRE, parsed("--require", "3.11,3.14t")) == ("3.11", "3.14t")
    given = parsed("--interpreter", "3.11=/a=b", "--interpreter", "3.14t+gil=/t")
    assert value_of(INTERPRETER, given) == {"3.11": Path("/a=b"), "3.14t": Path("/t")}


@pytest.mark.parametrize("text", ["3.11", "3.11=", "=/usr/bin/python3", "python=/usr/bin/python3", ""])
def test_an_interpreter_without_name_or_path_is_an_error(text: str) -> None:
    with pytest.raises(BadInput, match=r"NAME=PATH|name"):
        value_of(INTERPRETER, parsed("--interpreter", text))


def test_an_experiment_beside_an_application_says_how_it_is_measured() -> None:
    flags = ("--app", "shop:app", "--server", "gunicorn", "--experiment", "patch-regression")
    plan = planning.planned(*flags, "--fail-if-slower", "12.5%", "--runtime", "3.14.5t,3.14.6t")
    assert list(plan.systems) == ["own"]
    assert plan.fail_if_slower == 0.125
    assert plan.runtimes == ("3.14.5t", "3.14.6t")
    assert plan.blocks == load_experiment("patch-regression").blocks
    assert Plan.from_json(plan.to_json()).fail_if_slower == 0.125
