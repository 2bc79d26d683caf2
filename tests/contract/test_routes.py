"""The case `route` of benchmarks/known_settings.py in short: one route of five is slower without the GIL."""

import sys
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest

from benchmarks import bench
from benchmarks.known_settings import ARMS, FAST, SLOW, SLOWER, compared
from tests.conftest import runtime_or_skip
from tests.contract.runs import UNREPORTED
from tests.known.measure import CLIENT_PYTHON
from tests.native.programs import program_or_skip

pytestmark = pytest.mark.alone


def test_the_ratio_of_each_route_is_that_of_its_own_requests_with_both_clients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench, "RUNNER", (sys.executable, str(UNREPORTED)))
    runtime_or_skip("3.14t")
    program_or_skip("loadgen")
    with ThreadPoolExecutor() as pool:  # the services sleep for nearly all of the time
        runs = [pool.submit(compared, SLOWER, ARMS, client, 2) for client in ("native", CLIENT_PYTHON)]
    for one in (run.result() for run in runs):
        ratios = {name: route.ratio or 0.0 for name, route in one.routes.items()}
        assert ratios.pop(SLOW) / median(ratios.values()) == pytest.approx(20 / 24, rel=0.08)
        assert [*ratios] == [*FAST]
