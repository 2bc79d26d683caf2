"""The unit tests of the Rust programs, run by cargo: among them the quantiles within 0.1 % and the open loop."""

import os

from tests.campaign.sizes import SEED
from tests.native.programs import cargo_test


def test_the_rust_programs_pass_their_unit_tests() -> None:
    assert "test result: ok" in cargo_test(
        "--quiet", "--profile", os.environ.get("CARGO_TEST_PROFILE", "dev"), seed=SEED, cases=200
    )
