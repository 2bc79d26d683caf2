"""The values that core/histogram.py and native/contract/src/histogram.rs must put into the same buckets.

wire_histogram.json is read by both: this test holds Python to it, `cargo test` the programs in Rust.
"""

import json
from pathlib import Path

from core.histogram import Histogram, bucket_of

VECTORS = json.loads((Path(__file__).parent / "wire_histogram.json").read_text(encoding="utf-8"))
TABLE = [[0, 0], [255, 255], [257, 256], [1000, 506], [74941, 1298]]  # docs/child-contract.md


def test_every_value_is_in_its_bucket_and_all_together_make_the_summary() -> None:
    histogram = Histogram()
    for value_ns, bucket in VECTORS["buckets"]:
        assert bucket_of(value_ns) == bucket
        histogram.record(value_ns)
    assert [pair for pair in TABLE if pair not in VECTORS["buckets"]] == []
    assert histogram.to_json() == VECTORS["summary"]
