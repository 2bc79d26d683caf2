"""`runner.py plan`: its table fits the terminal, and its guess is worked out by hand from its own constants."""

import re
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest

from commands import plan as command
from commands.estimate import (
    block_seconds,
    blocks_possible,
    cell_seconds,
    fewest_blocks_of,
    no_verdict,
    run_time,
    search_time,
    with_end,
)
from commands.plan import service_lines
from config.flags import plan_from
from config.load import DEFAULT_BLOCKS
from config.run_plan import Plan
from core.messages import BadInput
from record.saved_plan import Until
from tests.config import planning
from tests.tables import each_row


def planned(line: str) -> Plan:
    given = planning.parsed(line)
    return with_end(plan_from(given), given)


OWN = "--service-command '{python} {port}' --runtime 3.14,3.14t"
SMALL = "--num-api-services 2 --num-clients 2 --num-requests-per-client 1000 --calc-target 1000"


def test_a_cells_time_is_its_cpu_time_over_the_cores_and_the_start_of_its_processes() -> None:
    plan = planned(f"--system 1 --runtime 3.14t {SMALL}")
    # 4000 requests of 110 us + 1000 turns of 0.025 us, 2 cores; 0.4 s, 4 processes of 0.1 s on 2 cores, 4 connections
    seconds = 4000 * 135e-6 / 2 + 0.4 + 4 * 0.1 / 2 + 4 * 0.001
    assert cell_seconds(plan, plan.cells()[0], 2) == pytest.approx(seconds)


def test_a_users_service_starts_more_slowly() -> None:
    plan = planned(f"{OWN} --duration 1 --blocks 6")
    # 1 s and 10 % of warm-up; 1 s to start and stop, 3 processes of 0.1 s on 2 cores, 2 connections of each client
    assert cell_seconds(plan, plan.cells()[0], 2) == pytest.approx(1.1 + 1.0 + 3 * 0.1 / 2 + 2 * 0.001)


def test_a_profile_is_one_more_measurement_of_each_cell() -> None:
    plan = planned("--system 1 --runtime 3.14,3.14t --duration 8 --warmup 0 --aa --blocks 6")
    cell_s = cell_seconds(plan, plan.cells()[0], 2)  # 18 measurements, and 2 of each of 2 profiles
    assert f"about {18 * cell_s / 60:.0f} min" in str(run_time(plan, 2))
    assert f"about {22 * cell_s / 60:.0f} min" in str(run_time(plan, 2, profiles=2))


def test_plan_takes_every_flag_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    line = "--system 1 --runtime 3.14 --blocks 6 --profile locks --quiet --out folder --seed 1"
    assert command.main(line.split()) == 0
    assert "A run would take about" in capsys.readouterr().out
    with pytest.raises(BadInput, match="Unknown arguments: --resume"):
        command.main(["--resume", "folder"])


@each_row
def test_the_table_has_a_row_for_the_second_measurement_of_aa(line: str, column: int, arms: list[str]) -> None:
    ((_, rows),) = command.cell_table(planned(line), 2).groups
    assert [str(row[column].words) for row in rows] == arms


def test_a_plan_of_a_users_service_shows_its_command_requests_and_rate_and_that_packages_were_not_tried(
    tmp_path: Path,
) -> None:
    file = tmp_path / "requests.yml"
    file.write_text("- {request: POST /login, body: hunter2}\n- {request: GET /items/3, weight: 4}\n")
    line = f"--app shop:app --server uvicorn --requests {file} --rate 20 --num-clients 1,2"
    command, requests, values, packages = map(str, service_lines(planned(line)))
    assert (command.split()[-1], "-m uvicorn" in command) == ("shop:app", True)
    assert requests == "Requests: 1 x POST /login, 4 x GET /items/3"
    assert values == "Every measurement: NUM_API_SERVICES 1, NUM_CONNECTIONS_PER_CLIENT 8, RATE 20"
    assert packages.startswith("The packages were not tried: a run leaves out each runtime for which")
    assert [*service_lines(planned("--system 4"))] == []


def test_a_search_has_no_time_of_each_measurement() -> None:
    search = planned(f"{OWN} --runtime 3.14 --slo 'p99<150ms'")
    heads = [str(column.head) for column in command.cell_table(search, 2).columns]
    assert heads == ["measurement", "system", "runtime", "parameters"]
    assert re.findall(r"about (\d+ \w+) if .*, and (\d+ \w+) if", str(search_time(search))) == [("2 min", "5 min")]


@each_row
def test_a_run_without_a_fixed_end_says_when_it_ends_and_no_number_of_blocks_or_requests(line: str) -> None:
    words, _, ends = line.partition(" -> ")
    said = str(run_time(planned(f"{OWN} {words}"), 2))
    assert said.startswith(f"A run would end {ends}. A block of 2 measurements takes roughly ")
    assert "10000" not in said
    assert "requests" not in said


# The fewest blocks that a plan needs. A/A gets no verdict. A sweep has 4 steps at 3 values, 2 values with the first
# under 4 runtimes, and whether they change the step. The experiment judges 9 of its comparisons.
FEWEST = f"""\
6 {OWN} --blocks 5
6 {OWN} --blocks 5 --aa
8 --system 1 --runtime 3.11,3.14,3.14t+gil,3.14t --blocks 3
11 --system 4 --num-multi-socket 1,5,10 --num-requests-per-client 9 --blocks 3
9 --experiment quick --blocks 3"""


@pytest.mark.parametrize("line", FEWEST.splitlines())
def test_a_plan_with_too_few_blocks_for_any_verdict_says_how_many_it_needs(line: str) -> None:
    fewest, _, words = line.partition(" ")
    few = planned(words)
    assert fewest_blocks_of(few) == int(fewest)
    assert f"cannot give a verdict: its comparisons need at least {fewest} blocks" in str(no_verdict(few, 2))
    assert not no_verdict(replace(few, blocks=int(fewest)), 2)


def test_a_run_that_is_too_short_for_a_verdict_says_so() -> None:
    assert not no_verdict(planned(f"{OWN} --until verdict,3min"), 2)
    short = planned(f"{OWN} --until verdict,20s")
    assert f"there will be only {blocks_possible(short, 2)}" in str(no_verdict(short, 2))


@each_row
def test_the_defaults_of_gilscopes_own_systems_give_a_verdict(words: str) -> None:
    assert not no_verdict(planned(words), 2)


def test_a_run_that_needs_more_than_the_default_of_5_minutes_says_how_many() -> None:
    plan = planned("--system 4 --num-multi-socket 1,5,10")
    seconds = fewest_blocks_of(plan) * block_seconds(plan, 2)
    assert plan.until == Until(verdict=True, seconds=300)
    assert f"Give --until verdict,{ceil(seconds / 60)}min" in str(no_verdict(plan, 2))


def test_a_number_of_requests_has_as_many_blocks_as_a_verdict_needs() -> None:
    plan = planned("--system 4 --num-requests-per-client 1000")
    assert (plan.until, plan.blocks) == (Until(), fewest_blocks_of(plan))
    one = planned("--system 4 --num-requests-per-client 1000 --runtime 3.14t")
    assert (one.blocks, fewest_blocks_of(one)) == (DEFAULT_BLOCKS, 0), "nothing is compared"


def test_gilscopes_own_systems_are_measured_by_time_unless_a_number_of_requests_is_given() -> None:
    for words, seconds in (
        ("--system 4", 1),
        ("--system 4 --num-requests-per-client 10", 0),
        ("--scale 0.1", 0),
        ("--scale 0.1 --duration 2", 2),
    ):
        assert planned(words).method.duration_s == seconds
