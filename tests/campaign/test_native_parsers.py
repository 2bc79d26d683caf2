"""What the Rust programs read from outside: heads, chunks, frames, lines of the contract; millions of each."""

import re

from tests.campaign.sizes import SEED, campaign_only
from tests.native.programs import cargo_test

CASES, PROPERTIES = 10**7, 12


@campaign_only  # tests/native/test_rust_units.py plays 10,000
def test_no_input_makes_a_native_parser_panic_or_err() -> None:
    output = cargo_test("--profile", "fuzz", "properties::", seed=SEED, cases=-(-CASES // PROPERTIES))
    assert sum(map(int, re.findall(r"ok\. (\d+) passed", output))) == PROPERTIES, output
