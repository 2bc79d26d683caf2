"""`runner.py` in bad weather: signals, kills, limits. It leaves no process, no socket file, no temporary folder."""

from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import pytest

from lab.run.measured_runtimes import Runtime
from record.run_file import load
from tests.contract.runs import (
    NEEDS_LINUX,
    SERVICE,
    UNREPORTED,
    finished,
    plan_flags,
    result_of,
    runtime_flags,
    service_flags,
    started,
    wait_for_ends,
)

pytestmark = NEEDS_LINUX

ENDED = {SIGINT: 130, SIGTERM: 143, SIGKILL: -9}


# ---- strikes: tests/campaign plays many more -------------------------------------------------------------------------


def endless_flags(runtime: Runtime, what: str) -> list[str]:
    """Of a run of a service that leaves its group, or of few or many services of ours."""
    if what == "family":
        return service_flags(runtime, "family.py {port}", "--duration", "60", "--blocks", "1")
    sizes = {"NUM_API_SERVICES": 2, "NUM_CLIENTS": 2} if what == "few" else {"NUM_API_SERVICES": 6}
    return plan_flags(runtime, NUM_REQUESTS_PER_CLIENT=10**7, **sizes)


STRIKES: list[tuple[str, tuple[str, int] | None, tuple[Signals, ...]]] = [
    ("few", None, (SIGINT,)),
    ("few", None, (SIGKILL,)),
    ("few", None, (SIGINT, SIGINT, SIGTERM)),
    ("many", (SERVICE, 3), (SIGTERM,)),
    ("family", ("family.py", 2), (SIGKILL,)),
]


@pytest.mark.parametrize(("what", "until", "numbers"), STRIKES)
def test_a_runner_that_is_struck_in_mid_cell_or_while_its_services_start_leaves_nothing(
    any_runtime: Runtime,
    folder: Path,
    what: str,
    until: tuple[str, int] | None,
    numbers: tuple[Signals, ...],
) -> None:
    with started([*endless_flags(any_runtime, what), "--out", "run"], folder) as run:
        if until:
            run.wait_for(*until)
        children = run.wait_until_calling() if what != "many" else run.children()
        for number in numbers:
            run.signal(number)
        late = [-number for number in numbers[1:]]  # this process was at its end, where Python handles no signal
        assert run.status() in [*(ENDED[number] for number in numbers), *late]
        wait_for_ends(children)
        assert run.leaves_nothing()
    assert load(folder / "run").cells == []
    if SIGKILL not in numbers:
        assert "--resume" in run.complained()
        assert "Traceback" not in run.complained()


def test_a_run_that_was_killed_is_whole_as_far_as_it_came_goes_on_from_there_and_is_not_written_over(
    any_runtime: Runtime, folder: Path
) -> None:
    """The service of its second cell waits at a gate."""
    sizes = ["--num-requests-per-client", "10", "--duration", "0", "--blocks", "2", "--quiet", "--out", "run"]
    flags = service_flags(any_runtime, "gated.py {port}", *sizes)
    resume = ["--resume", "run", *runtime_flags(any_runtime)[2:]]
    with started(flags, folder) as run:
        run.until("a request at the gate", (folder / "waiting").exists)
        run.signal(SIGKILL)
        run.status()
        assert run.leaves_nothing()
    before = result_of(folder / "run")
    assert [cell["block"] for cell in before["cells"]] == [1]
    (folder / "gate").touch()
    resumed = finished(resume, folder, script=UNREPORTED)
    assert (resumed.status(), resumed.leaves_nothing()) == (0, True)
    after = result_of(folder / "run")
    assert after["cells"][0] == before["cells"][0]
    assert [(cell["status"], cell["answered"]) for cell in after["cells"]] == [("ok", 10)] * 2
    kept = ("run_id", "started_at", "seed", "plan")
    assert [after[name] for name in kept] == [before[name] for name in kept]
    refused = finished(flags, folder)
    assert refused.status() == 2
    assert "--resume" in refused.complained()
    assert result_of(folder / "run")["cells"] == after["cells"]


# ---- refusals ------------------------------------------------------------------------------------------------------


def test_a_soft_limit_on_open_files_is_raised_and_the_plan_runs(any_runtime: Runtime, short_folder: Path) -> None:
    flags = plan_flags(any_runtime, NUM_MULTI_SOCKET=100)
    flags[flags.index("--system") + 1] = "4"
    run = finished([*flags, "--out", "run"], short_folder, files=250, script=UNREPORTED)
    assert run.status() == 0, run.complained()
