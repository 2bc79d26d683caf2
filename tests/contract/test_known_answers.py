"""The short form of benchmarks/known_answers.py: services whose truth is known, measured by runner.py."""

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product

import pytest

from benchmarks import bench
from tests.conftest import runtime_or_skip
from tests.contract.runs import UNREPORTED
from tests.known.judge import OK, Seen, judge
from tests.known.measure import measured
from tests.known.scenarios import SCENARIOS
from tests.native.programs import program_or_skip

pytestmark = pytest.mark.alone

SLEEPS, MIXED = ("sleep 300/600", "think 150 + 5/50"), "mix 20 + 2% of 500"
CLIENTS = ("native", "python")


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, str], Future[Seen]]:
    """Each run, which has ended or failed. All services sleep for nearly all of the time, so runs share the machine."""
    runtime_or_skip("3.14t")
    program_or_skip("loadgen")
    ended: dict[tuple[str, str], Future[Seen]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "RUNNER", (sys.executable, str(UNREPORTED)))
        for names in SLEEPS, (MIXED,):
            with ThreadPoolExecutor() as pool:
                for name, client in product(names, CLIENTS):
                    ended[name, client] = pool.submit(measured, SCENARIOS[name], client, "slices", True)
    return ended


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", [*SLEEPS, MIXED])
def test_a_run_says_what_is_true_of_a_service(
    name: str, client: str, runs: dict[tuple[str, str], Future[Seen]]
) -> None:
    seen = runs[name, client].result()
    assert judge(SCENARIOS[name], seen) == (OK, []), seen.why
