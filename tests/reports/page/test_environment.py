"""Machine, runtimes, plan: what is known stands there, and what is not is a dash."""

from core.method import Method, Warmup
from core.result import Run
from reports.page.environment import machine, plan, runtimes
from reports.page.tables import Table
from reports.page.texts import TEXTS
from tests.reports.sample import MS, cell_of, measured, run_of

WORDS = TEXTS["en"]


def one_cell() -> Run:
    return run_of([measured(cell_of("2", "3.14t"), 1, [2000 * MS])], runtimes=["3.14t"])


def texts(table: Table) -> dict[str, list[str]]:
    return {line[0].text: [one.text for one in line[1:]] for group in table.groups for line in group.lines}


def test_the_machine_is_told_and_what_is_not_known_is_a_dash() -> None:
    told = texts(machine(one_cell(), WORDS))
    assert told["CPU"] == ["Sample CPU"]
    assert told["Memory"] == ["16.0 GiB"]
    assert told["Load (1, 5, 15 min)"] == ["0.10, 0.20, 0.30"]
    assert told["ulimit -n (open files)"] == ["20000"]
    assert told["Governor"] == ["-"]


def test_a_runtime_has_its_build_and_flags() -> None:
    assert texts(runtimes(one_cell(), WORDS))["3.14t"][:4] == [
        "3.14.2",
        "free-threaded",
        "GCC 13.2.0",
        "PGO, no LTO, static",
    ]


def test_a_program_is_no_build_of_an_interpreter() -> None:
    run = one_cell()
    run.runtimes["native"] = {"version": "", "flags": {}}
    assert texts(runtimes(run, WORDS))["native"] == ["-", "-", "-", "-", ""]


def test_the_plan_has_its_method_seed_and_command() -> None:
    run = one_cell()
    run.plan["method"] = Method(warmup=Warmup(share=0.05), duration_s=2, pin_services=(0, 1)).to_json()
    told = texts(plan(run, WORDS))
    (method,) = told["Method"]
    assert method.split(", ", 2)[:2] == ["warm-up of 5% of the requests", "each cell for 2 s"]
    assert method.endswith("clients run under the service's runtime, services on CPU 0, 1")
    assert told["Seed"] == ["1"]
    assert told["To repeat it"] == ["python runner.py --seed 1"]
