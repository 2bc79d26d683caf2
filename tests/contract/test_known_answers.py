"""The short form of benchmarks/known_answers.py: services whose truth is known, measured by runner.py."""

from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product

import pytest

from tests.conftest import runtime_or_skip
from tests.known.judge import OK, REFUSED, Seen, judge
from tests.known.measure import measured
from tests.known.scenarios import SCENARIOS
from tests.native.programs import program_or_skip

pytestmark = pytest.mark.alone

NAMES = ("sleep 300/600", "mix 5 + 1.5% of 300", "think 150 + 5/50")
CHOSEN = [*product(NAMES, ("native", "python"))]
AT_ONCE = 3  # the services sleep for most of the time


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, str], Future[Seen]]:
    """Each run, which has ended or failed. They take turns on the same machine, and few of them use a core."""
    runtime_or_skip("3.14t")
    program_or_skip("loadgen")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {
            (name, client): pool.submit(measured, SCENARIOS[name], client, "slices", True) for name, client in CHOSEN
        }


@pytest.mark.parametrize(("name", "client"), CHOSEN)
def test_a_run_says_what_is_true_of_a_service(
    name: str, client: str, runs: dict[tuple[str, str], Future[Seen]]
) -> None:
    seen = runs[name, client].result()
    assert judge(SCENARIOS[name], seen) in ((OK, []), (REFUSED, []))
