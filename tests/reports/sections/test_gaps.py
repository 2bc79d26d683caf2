"""What was not measured: each thing with the command that would; topics that the run has nothing on, by themselves."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from core.messages import message
from core.result import Run
from reports import sections
from reports.document.model import Section
from reports.sections.gaps import elsewhere, missing
from reports.view import View
from tests.reports.contestants import TITLES, blocks_of, contest_run
from tests.reports.sample import MS, cell_of, measured, run_of


def short() -> Run:
    cells = [measured(cell_of("2", arm), block, [2000 * MS]) for arm in ("3.11", "3.14t") for block in (1, 2)]
    return run_of(cells, blocks=2)


def gaps(section: Section) -> dict[str, str]:
    (table,) = section.tables
    return {str(what.words): str(command.words) for what, command in table.lines}


def lacks(run: Run) -> dict[str, str]:
    return gaps(missing(View(run, TITLES)))


def test_without_a_a_the_command_that_measures_it_is_given() -> None:
    run = short()
    run.command = ["runner.py", "--experiment", "quick", "--out", "somewhere"]
    assert "python runner.py --experiment quick --aa" in lacks(run).values()


def test_open_verdicts_come_with_the_blocks_they_take() -> None:
    run = short()
    run.command = ["runner.py", "--blocks", "2", "--system", "2"]
    assert (
        lacks(run)["Verdicts that are still open: about this many blocks"]
        == "python runner.py --resume reports/out/20260102T030405-sample --blocks +4"
    )


def test_cells_that_are_missing_come_with_resume_and_their_number() -> None:
    run = short()
    run.plan["blocks"] = 5
    run.command = ["runner.py", "--out", "elsewhere"]
    assert lacks(run)["6 cells of the plan"] == "python runner.py --resume elsewhere"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("3.14", "uv python install 3.14"),
        ("3.14t+gil", "uv python install 3.14t"),
        ("native", "python runner.py native"),
    ],
)
def test_a_runtime_that_was_not_found_comes_with_its_installation_whatever_its_line_says(
    name: str, command: str
) -> None:
    run = run_of(short().cells, blocks=2, missing={name: "what a program said"})
    assert lacks(run)[f"Runtime {name}, which was not found"] == command


def test_what_this_machine_does_not_have_is_named_with_its_reason_and_a_command() -> None:
    absent = {
        ("echo-netty", "native"): "not built: needs mvn",
        ("echo-uvloop", "3.14"): "uvloop cannot be installed",
        ("echo-uvloop", "3.14t"): "uvloop cannot be installed",
    }
    run = contest_run(blocks_of("echo-libuv", 20_000), absent=absent)
    run.command = ["runner.py", "--experiment", "echo"]
    assert lacks(run)["Netty (Java): not built: needs mvn"] == "python runner.py native"
    python = "uvloop (Python over libuv) under 3.14, 3.14t: uvloop cannot be installed"
    assert lacks(run)[python] == "python runner.py --experiment echo"


def test_a_plan_that_is_measured_lacks_nothing() -> None:
    section = missing(View(contest_run(blocks_of("echo-libuv", 20_000))))
    assert [str(line) for line in section.sentences] == ["Nothing that the plan asks for is missing."]


# ---- topics ---------------------------------------------------------------------------------------------------------


def topic(name: str, has: bool, **more: Any) -> SimpleNamespace:
    words = (message("it has"),) if has else ()
    made: Callable[[View], Section] = lambda view: Section(key=name, title=message("T"), sentences=words)  # noqa: E731
    return SimpleNamespace(__name__=name, section=made, **more)


def test_topics_that_the_run_has_nothing_on_come_with_their_own_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        topic("shown", True, WANTED=message("shown"), COMMAND="no"),
        topic("empty", False, WANTED=message("by name"), COMMAND="python runner.py --experiment x"),
        topic(
            "asked", True, WANTED=message("by run"), COMMAND=lambda view: view.run.run_id, is_measured=lambda _: False
        ),
        topic("always", False),
    ]
    monkeypatch.setattr(sections, "topics", lambda: made)
    run = short()
    assert gaps(elsewhere(View(run))) == {"by name": "python runner.py --experiment x", "by run": run.run_id}


def test_every_topic_has_what_the_protocol_asks() -> None:
    def is_whole(module: ModuleType) -> bool:
        return isinstance(module.PLACE, int) and hasattr(module, "WANTED") == hasattr(module, "COMMAND")

    assert [module.__name__ for module in sections.topics() if not is_whole(module)] == []


def test_an_empty_run_names_every_topic_with_a_command() -> None:
    run = run_of([], runtimes=["3.14"])
    run.command = ["runner.py", "--runtime", "3.14", "--system", "2"]
    wanted = gaps(elsewhere(View(run)))
    command = "python runner.py --system 2 --runtime 3.11,3.14,3.14t+gil,3.14t"
    assert wanted["Comparisons: version, build and lock"] == command
    assert wanted["Memory against the number of clients"] == "python runner.py --experiment memory"
    assert all(wanted.values())
    native = replace(run, plan={**run.plan, "runtimes": ["native"]})
    assert "python runner.py --experiment evidence" in gaps(elsewhere(View(native))).values()
