"""The experiment loadgen: ours over each other one, keep-alive said in every row."""

from typing import Any

import pytest

from tests.reports.contestants import blocks_of, contest_run, lines_of, table_of
from tests.reports.sample import MS

SAID = {"said": {"seconds": 2.0, "percentiles_ms": {"p50": 0.077, "p99": 4.5}}}
KEPT: dict[str, Any] = {"KEEP_ALIVE": True, "NUM_CONNECTIONS_PER_CLIENT": 21}
FRESH: dict[str, Any] = {"KEEP_ALIVE": False, "NUM_CONNECTIONS_PER_CLIENT": 21, "NUM_REQUESTS_PER_CLIENT": 200}
OWN = blocks_of("load-own", 120_000, latencies_ns=[100_000, 200_000], **KEPT)
WRK = blocks_of("load-wrk", 100_000, client=SAID, **KEPT)
AB = blocks_of("load-ab", 60_000, client=SAID, **KEPT)
OWN_FRESH = blocks_of("load-own", 20_000, latencies_ns=[MS], **FRESH)
AB_FRESH = blocks_of("load-ab", 10_000, client=SAID, **FRESH)


@pytest.mark.parametrize(("percentiles_ms", "shown"), [({"p50": 0.0, "p99": 2.0}, ["<500", "2,000"]), ({}, ["-", "-"])])
def test_a_latency_that_a_generator_rounds_to_nothing_is_below_that_and_one_that_it_does_not_say_is_none(
    percentiles_ms: dict[str, float], shown: list[str]
) -> None:
    run = contest_run(
        blocks_of("load-ab", 10, client={"said": {"percentiles_ms": percentiles_ms}}, **KEPT), view="loadgen"
    )
    assert lines_of(table_of(run))[0][8:] == shown
