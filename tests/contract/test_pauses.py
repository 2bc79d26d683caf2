"""A planted case: a service whose collections hold up its requests."""

import pytest

from analysis.cells import Cells
from analysis.pauses import COLLECTION, pauses
from lab.run.runtimes import Runtime
from tests.contract.own_services import Measured
from tests.contract.runs import NEEDS_LINUX
from tests.contract.serving import check_ok
from tests.reports.sample import run_of

BLOCKS = range(1, 9)  # fewer than 6 claim nothing; of 8 the machine may spoil two
pytestmark = NEEDS_LINUX


@pytest.mark.alone
def test_collections_of_a_big_young_heap_are_named_as_what_holds_requests_up(
    own: Measured, any_runtime: Runtime
) -> None:
    many = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 500}
    given = {"command": "{python} collecting.py {port} 3000"}
    cells = [own(given, block=block, **many) for block in BLOCKS]
    for cell in cells:
        check_ok(cell)
    (found,) = pauses(Cells(run_of(cells, runtimes=(str(any_runtime.name),))).rows)
    assert COLLECTION in found.findings
    assert found.shares[COLLECTION].estimate.value > 0.3
    assert found.longest_ns > 1_000_000
