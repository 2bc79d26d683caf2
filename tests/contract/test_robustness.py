"""`runner.py` in bad weather: signals, kills, limits. It leaves no process, no socket file, no temporary folder."""

import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from config.load import load_plan
from core.result import load
from lab.run.runtimes import Runtime
from tests.contract.peers import CALC, Peer
from tests.contract.runs import CLIENT, SERVICE, finished, plan_flags, result_of, runtime_flags, started, wait_for_ends

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "pidfd_open") and Path("/proc/self/environ").exists()), reason="needs Linux: /proc and pidfd"
)

ENDLESS = 10**7
LONG, SHORT = 50_000, 20  # LONG takes seconds: a test that a busy machine holds up for one is still in its middle
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}


def serve_flags(runtime: Runtime, number: str = "2", **params: Any) -> list[str]:
    """Arguments of `runner.py serve` for one service."""
    values = {"NUM_API_SERVICES": 1, **params}
    flags = [word for name, value in values.items() for word in ("--" + name.lower().replace("_", "-"), str(value))]
    return ["serve", "--system", number, *runtime_flags(runtime), *flags]


def two_cell_plan(folder: Path, runtime: Runtime, first: int, long: int = LONG) -> list[str]:
    """Arguments of a run with a long cell and a short one; the seed is such that *first* requests come first."""
    path = folder / "two.yaml"
    path.write_text(
        f'blocks: 1\nruntimes: ["{runtime.name}"]\n'
        f"parameters: {{NUM_API_SERVICES: 1, NUM_CLIENTS: 1, NUM_REQUESTS_PER_CLIENT: [{long}, {SHORT}]}}\n"
        "rows: [{system: 2}]\n"
    )
    plan = load_plan(path)
    seed = next(seed for seed in range(100) if plan.block(1, seed)[0].cell.num_requests_per_client == first)
    return ["--plan", str(path), "--seed", str(seed), *runtime_flags(runtime)[2:]]


# ---- a signal to the runner ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", STATUS, ids=lambda number: str(number.name))
def test_a_runner_that_is_stopped_in_mid_cell_leaves_nothing(
    any_runtime: Runtime, short_folder: Path, number: signal.Signals
) -> None:
    flags = plan_flags(any_runtime, NUM_REQUESTS_PER_CLIENT=ENDLESS, NUM_API_SERVICES=2, NUM_CLIENTS=2)
    with started([*flags, "--out", "run"], short_folder) as run:
        children = run.wait_until_calling()
        assert list(run.temporary.glob("gilscope-*/*/*.0")) != []
        run.signal(number)
        assert run.status() == STATUS[number]
        wait_for_ends(children)
        assert run.leaves_nothing()
    assert load(short_folder / "run").cells == []
    if number != signal.SIGKILL:
        assert "--resume" in run.complained()
        assert "Traceback" not in run.complained()


@pytest.mark.parametrize("number", STATUS, ids=lambda number: str(number.name))
@pytest.mark.parametrize("services", [1, 8])
def test_a_runner_that_is_stopped_while_its_services_start_leaves_nothing(
    any_runtime: Runtime, short_folder: Path, number: signal.Signals, services: int
) -> None:
    flags = plan_flags(any_runtime, NUM_REQUESTS_PER_CLIENT=ENDLESS, NUM_API_SERVICES=12, NUM_CLIENTS=1)
    with started([*flags, "--out", "run"], short_folder) as run:
        run.wait_for(SERVICE, services)
        run.signal(number)
        assert run.status() == STATUS[number]
        assert run.leaves_nothing()


def test_a_second_signal_does_not_cut_the_cleaning_short(any_runtime: Runtime, short_folder: Path) -> None:
    flags = plan_flags(any_runtime, NUM_REQUESTS_PER_CLIENT=ENDLESS)
    with started([*flags, "--out", "run"], short_folder) as run:
        run.wait_until_calling()
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
            run.signal(number)
        assert run.status() in (130, 143)
        assert run.leaves_nothing()
    assert "Traceback" not in run.complained()


# ---- a child that is killed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [SERVICE, CLIENT])
def test_a_child_that_is_killed_in_mid_cell_fails_its_cell_and_the_sweep_goes_on(
    any_runtime: Runtime, short_folder: Path, role: str
) -> None:
    arguments = two_cell_plan(short_folder, any_runtime, first=ENDLESS, long=ENDLESS)
    with started([*arguments, "--out", "run"], short_folder) as run:
        children = run.wait_until_calling()
        (victim,) = [pid for pid, line in children.items() if role in line]
        os.kill(victim, signal.SIGKILL)
        assert run.status() == 1
        assert run.leaves_nothing()
    failed, good = load(short_folder / "run").cells
    assert (failed.params["NUM_REQUESTS_PER_CLIENT"], failed.status) == (ENDLESS, "failed")
    name = "Service" if role == SERVICE else "Client"
    assert str(failed.reason).startswith(f"{name} 1 of 1 ({any_runtime.name}, pid {victim}) was killed by SIGKILL ")
    assert str(failed.reason).endswith("It wrote nothing to stderr.")
    assert (good.status, good.answered) == ("ok", SHORT)


# ---- going on ------------------------------------------------------------------------------------------------------


def test_a_run_that_was_killed_is_whole_as_far_as_it_came_and_goes_on_from_there(
    any_runtime: Runtime, short_folder: Path
) -> None:
    arguments = two_cell_plan(short_folder, any_runtime, first=SHORT)
    with started([*arguments, "--out", "run"], short_folder) as run:
        run.wait_until_calling()
        run.signal(signal.SIGKILL)
        run.status()
        assert run.leaves_nothing()
    before = result_of(short_folder / "run")
    assert [cell["params"]["NUM_REQUESTS_PER_CLIENT"] for cell in before["cells"]] == [SHORT]
    resumed = finished(["--resume", "run", *runtime_flags(any_runtime)[2:]], short_folder)
    assert (resumed.status(), resumed.leaves_nothing()) == (0, True)
    after = result_of(short_folder / "run")
    assert after["cells"][0] == before["cells"][0]
    assert [(cell["status"], cell["answered"]) for cell in after["cells"]] == [("ok", SHORT), ("ok", LONG)]
    assert {name: after[name] for name in ("run_id", "started_at", "seed", "plan")} == {
        name: before[name] for name in ("run_id", "started_at", "seed", "plan")
    }
    again = finished(["--resume", "run", *runtime_flags(any_runtime)[2:]], short_folder)
    assert again.status() == 0
    assert result_of(short_folder / "run")["cells"] == after["cells"]


def test_two_runs_at_once_do_not_collide(any_runtime: Runtime, short_folder: Path) -> None:
    flags = plan_flags(any_runtime, NUM_REQUESTS_PER_CLIENT=2000, NUM_MULTI_SOCKET=2)
    flags[flags.index("--system") + 1] = "4"
    (short_folder / "a").mkdir()
    (short_folder / "b").mkdir()
    os.symlink(short_folder / "a" / "t", short_folder / "b" / "t")
    with (
        started([*flags, "--out", "run"], short_folder / "a") as one,
        started([*flags, "--out", "run"], short_folder / "b") as other,
    ):
        assert (one.status(), other.status()) == (0, 0)
        assert one.leaves_nothing()
    for run in (one, other):
        (cell,) = result_of(run.folder / "run")["cells"]
        assert (cell["status"], cell["answered"]) == ("ok", 2000)


def test_a_folder_that_holds_a_run_is_not_written_over(any_runtime: Runtime, short_folder: Path) -> None:
    flags = [*plan_flags(any_runtime), "--out", "run"]
    assert finished(flags, short_folder).status() == 0
    before = (short_folder / "run" / "result.json").read_bytes()
    again = finished(flags, short_folder)
    assert again.status() == 2
    assert "holds a run already" in again.complained()
    assert "--resume" in again.complained()
    assert (short_folder / "run" / "result.json").read_bytes() == before


# ---- refusals ------------------------------------------------------------------------------------------------------


def test_a_plan_that_needs_more_files_than_the_hard_limit_is_refused_with_both_numbers(
    any_runtime: Runtime, short_folder: Path
) -> None:
    flags = [*plan_flags(any_runtime, NUM_API_SERVICES=200, NUM_CLIENTS=200), "--out", "run"]
    run = finished(flags, short_folder, files=300)
    assert (run.status(), run.leaves_nothing()) == (2, True)
    numbers = re.search(r"needs (\d+) open files.* limit here is (\d+)", run.complained())
    assert numbers is not None, run.complained()
    assert int(numbers[1]) >= 3 * 400
    assert int(numbers[2]) == 300
    assert run.complained().startswith("error: ")
    assert run.said() == ""


def test_a_soft_limit_on_open_files_is_raised_and_the_plan_runs(any_runtime: Runtime, short_folder: Path) -> None:
    flags = plan_flags(any_runtime, NUM_MULTI_SOCKET=100)
    flags[flags.index("--system") + 1] = "4"
    run = finished([*flags, "--out", "run"], short_folder, files=250)
    assert run.status() == 0, run.complained()


def test_a_required_runtime_that_is_missing_is_an_error_with_the_command_that_installs_it(
    any_runtime: Runtime, short_folder: Path
) -> None:
    run = finished([*plan_flags(any_runtime), "--require", "3.99t", "--out", "run"], short_folder)
    assert (run.status(), run.said()) == (2, "")
    assert run.complained() == "error: Runtime 3.99t was not found. Install it with: uv python install 3.99t\n"
    assert not (short_folder / "run").exists()


def test_a_missing_runtime_is_one_line_and_the_run_goes_on_with_the_rest(
    any_runtime: Runtime, short_folder: Path
) -> None:
    flags = plan_flags(any_runtime)
    flags[flags.index("--runtime") + 1] += ",3.99t"
    run = finished([*flags, "--out", "run"], short_folder)
    assert run.status() == 0
    assert "Runtime 3.99t was not found. Install it with: uv python install 3.99t" in run.complained().splitlines()
    result = result_of(short_folder / "run")
    assert [cell["runtime"] for cell in result["cells"]] == [str(any_runtime.name)]
    assert list(result["missing"]) == ["3.99t"]


def test_a_temporary_folder_that_is_too_long_for_sockets_is_refused(any_runtime: Runtime, short_folder: Path) -> None:
    deep = short_folder / ("d" * 80)
    deep.mkdir()
    run = finished([*plan_flags(any_runtime), "--out", "run"], deep)
    assert (run.status(), run.leaves_nothing()) == (2, True)
    assert "set TMPDIR to a shorter one" in run.complained()


# ---- serve ---------------------------------------------------------------------------------------------------------


def first_answers(addresses: list[str]) -> list[str]:
    """What each address answers."""
    answers = []
    for address in addresses:
        with Peer(address) as peer:
            answers.append(peer.ask(CALC)["msg"])
    return answers


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_serve_prints_one_address_a_line_and_stops_at_end_of_input(
    any_runtime: Runtime, short_folder: Path, transport: str
) -> None:
    flags = serve_flags(any_runtime, "4", NUM_API_SERVICES=2, NUM_MULTI_SOCKET=3, TRANSPORT=transport)
    with started(flags, short_folder, stdin=subprocess.PIPE) as run:
        addresses = run.lines(6)
        assert len(set(addresses)) == 6
        assert first_answers(addresses) == ["7"] * 6
        assert run.process.stdin is not None
        run.process.stdin.close()
        assert (run.status(), run.complained()) == (0, "")
        assert run.leaves_nothing()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda one: str(one.name))
def test_serve_stops_at_a_signal_and_leaves_nothing(
    any_runtime: Runtime, short_folder: Path, number: signal.Signals
) -> None:
    with started(serve_flags(any_runtime), short_folder, stdin=subprocess.PIPE) as run:
        assert first_answers(run.lines(1)) == ["7"]
        run.signal(number)
        assert run.status() == {signal.SIGINT: 0, signal.SIGTERM: 0, signal.SIGKILL: -9}[number]
        assert (run.leaves_nothing(), run.complained()) == (True, "")


@pytest.mark.parametrize("source", ["nothing", "a file"])
def test_serve_takes_input_that_has_ended_already_for_its_end(
    any_runtime: Runtime, short_folder: Path, source: str
) -> None:
    path = short_folder / "input"
    path.write_text("a line\n")
    with open(os.devnull if source == "nothing" else path) as stdin:
        run = finished(serve_flags(any_runtime), short_folder, stdin=stdin.fileno())
    assert (run.status(), run.complained()) == (0, "")
    assert len(run.said().splitlines()) == 1
    assert run.leaves_nothing()


def test_serve_says_which_service_was_killed(any_runtime: Runtime, short_folder: Path) -> None:
    with started(serve_flags(any_runtime), short_folder, stdin=subprocess.PIPE) as run:
        run.lines(1)
        (victim,) = run.wait_for(SERVICE)
        os.kill(victim, signal.SIGKILL)
        assert run.status() == 1
        assert f"Service 1 of 1 ({any_runtime.name}, pid {victim}) was killed by SIGKILL" in run.complained()
        assert run.leaves_nothing()


def test_serve_wants_exactly_one_cell(any_runtime: Runtime, short_folder: Path) -> None:
    run = finished(serve_flags(any_runtime, "4", NUM_MULTI_SOCKET="1,5"), short_folder)
    assert (run.status(), run.said()) == (2, "")
    assert "these flags make 2" in run.complained()
