"""What was not measured: each thing with the command that would, in the page's language."""

import re
from dataclasses import replace

import pytest

from core.messages import verbatim
from core.result import Run
from reports.page.build import page
from reports.page.gaps import RECORDS, Gap, gaps
from reports.rows.view import view_of
from tests.reports.contestants import TITLES, blocks_of, contest_run
from tests.reports.page.reading import elements, every_chapter, record_view
from tests.reports.sample import MS, cell_of, measured, run_of

CHAPTERS = ("comparisons", "waterfall", "completion", "sweeps", "latency", "costs", "topology")
SHOWN = dict.fromkeys(CHAPTERS, True)


def short() -> Run:
    cells = [measured(cell_of("2", arm), block, [2000 * MS]) for arm in ("3.11", "3.14t") for block in (1, 2)]
    return run_of(cells, blocks=2)


def found(run: Run, lang: str = "en") -> list[Gap]:
    return gaps(view_of(run, TITLES), SHOWN, lang)


def commands(run: Run) -> list[str]:
    return [one.command for one in found(run)]


def test_without_a_a_the_command_that_measures_it_is_told() -> None:
    run = short()
    run.command = ["runner.py", "--experiment", "quick", "--out", "somewhere"]
    assert "python runner.py --experiment quick --aa" in commands(run)


def test_open_verdicts_come_with_the_blocks_they_take() -> None:
    run = short()
    run.command = ["runner.py", "--blocks", "2", "--system", "2"]
    (command,) = [one for one in commands(run) if "--blocks" in one and "--aa" not in one]
    assert command == "python runner.py --system 2 --blocks 6"


def test_cells_that_are_missing_come_with_resume_and_their_number() -> None:
    run = short()
    run.plan["blocks"] = 5
    run.command = ["runner.py", "--out", "elsewhere"]
    gap = Gap(what="6 cells of the plan that are not measured", command="python runner.py --resume elsewhere")
    assert gap in found(run)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("3.14", "uv python install 3.14"),
        ("3.14t+gil", "uv python install 3.14t"),
        ("native", "make native"),
    ],
)
def test_a_runtime_that_was_not_found_comes_with_its_installation_whatever_its_line_says(
    name: str, command: str
) -> None:
    run = run_of(short().cells, blocks=2, missing={name: "what a program said"})
    assert Gap(what=f"Runtime {name}, which was not found", command=command) in found(run)


def test_what_this_machine_does_not_have_is_named_with_its_reason_and_a_command() -> None:
    absent = {
        ("echo-netty", "native"): "not built: needs mvn",
        ("echo-uvloop", "3.14"): "uvloop cannot be installed.",
        ("echo-uvloop", "3.14t"): "uvloop cannot be installed.",
    }
    run = contest_run(blocks_of("echo-libuv", 20_000), absent=absent)
    run.command = ["runner.py", "--experiment", "echo"]
    told = found(run)
    assert Gap(what="Netty (Java): not built: needs mvn", command="make native") in told
    python = "uvloop (Python over libuv) under 3.14, 3.14t: uvloop cannot be installed"
    assert Gap(what=python, command="python runner.py --experiment echo") in told


def test_every_chapter_that_a_page_leaves_out_is_named_with_a_command() -> None:
    run = run_of([], runtimes=["3.14"])
    run.command = ["runner.py", "--runtime", "3.14", "--system", "2"]
    told = {one.what: one.command for one in gaps(view_of(run), dict.fromkeys(CHAPTERS, False), "en")}
    assert told["Comparisons: version, build and lock"] == (
        "python runner.py --system 2 --runtime 3.11,3.14,3.14t+gil,3.14t"
    )
    assert told["A parameter at several values"] == "python runner.py --runtime 3.14 --system 2 --num-clients 1,2,4"
    assert told["Latency by percentile"] == "python runner.py --runtime 3.14 --system 2"
    assert told["Processes against threads, and where they cross"] == "python runner.py --experiment topology"
    assert all(told.values())


def test_native_programs_have_no_other_runtime_so_that_other_systems_are_named() -> None:
    run = contest_run(blocks_of("load-own", 20_000), view="loadgen")
    told = {one.what: one.command for one in gaps(view_of(run), {"comparisons": False}, "en")}
    assert told["Comparisons: version, build and lock"] == "python runner.py --experiment evidence"


def test_a_record_lacks_the_other_experiments_alone() -> None:
    told = [one.command for one in gaps(record_view(), SHOWN, "en")]
    assert [one for one in told if "--experiment" in one] == [
        f"python runner.py --experiment {name}" for name in ("scaling", "memory", *RECORDS)
    ]


def test_an_echo_run_does_not_lack_echo() -> None:
    run = contest_run(blocks_of("echo-libuv", 20_000))
    told = [one.command for one in gaps(view_of(run, TITLES), SHOWN, "en") if one.command.endswith(RECORDS)]
    assert told == [f"python runner.py --experiment {name}" for name in RECORDS if name != "echo"]


def test_a_page_names_what_it_leaves_out_and_nothing_that_it_has() -> None:
    texts = [one.text for one in elements(page(view_of(every_chapter()))) if one.name == "td"]
    assert "Echo servers of network libraries (echo record)" in texts
    assert "Processes against threads, and where they cross" not in texts
    bare = [one.text for one in elements(page(view_of(run_of([], runtimes=["3.14"])))) if one.name == "td"]
    assert {"Latency by percentile", "Completion times", "Where the time of a request goes"} <= set(bare)


def test_everything_is_named_in_chinese() -> None:
    run = replace(short(), missing={"3.14": verbatim("Runtime 3.14 was not found.")})
    told = gaps(view_of(run), dict.fromkeys(CHAPTERS, False), "zh")
    assert len(told) > 15
    assert [one.what for one in told if not re.search(r"[\u4e00-\u9fff]", one.what)] == []
