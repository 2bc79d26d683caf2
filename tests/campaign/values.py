"""Values that a child may say in place of the right one, and what a cell that was saved must be like."""

import json
from collections.abc import Mapping
from typing import Any

from core.histogram import bucket_of
from tests.lab.scripted_children import GIL_ON

LARGEST = 2**63 - 1

PLAIN: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 19, 21, 2**31, 2**53 + 1, LARGEST, 2**63, 2**64, -(2**63), 10**30, 10**400),
    *(0.0, 0.5, -0.5, 20.0, 1e308, 1e-308, "", "x", "20", "NaN", "\x1b[31m", "a\nb", "=HYPERLINK(1)", "<script>"),
    *("::error::", "\N{RIGHT-TO-LEFT OVERRIDE}", "\x00", "x" * 100_000, [], [[]], [1, -1], [None] * 1000, {}),
    *({"a": -1}, {"": {}}, {"count": 1}, {"text": "{x.__class__}", "msgid": "{a:>999999999}", "args": {"a": 1}}),
)
RAW = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-0", "1" + "0" * 5000, "01", "+1", "'x'", "tru", "", '"', "{"),
    *('"\\ud800"', "[" * 200_000, '{"a":' * 200_000, "[" * 500 + "]" * 500, '{"a":1,"a":-1}', "1, 2", "//"),
)
VALUES = (*(json.dumps(value) for value in PLAIN), *RAW, None)


def is_json(raw: str) -> bool:
    """As a reader other than the product's has it."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return raw not in ("NaN", "Infinity", "-Infinity")


NO_JSON = {raw for raw in RAW if not is_json(raw)}


def check_sound(cell: Mapping[str, Any]) -> None:
    """Independent of the code: what is in a cell of result.json is possible."""
    check_numbers(cell, depth=0)
    for name in ("latency", "connect", "waiting"):
        if cell[name]:
            check_histogram(cell[name])
    if cell["status"] == "failed":
        assert cell["reason"]["text"]
        return
    assert cell["answered"] == cell["requests"] > 0
    assert cell["wall_ns"] > 0
    assert cell["latency"]["count"] in (0, cell["answered"])
    assert all(0 < client["completion_ns"] < 10**12 for client in cell["clients"])
    assert all(type(process[name]) is bool for process in (*cell["clients"], *cell["services"]) for name in GIL_ON)


def check_numbers(value: Any, depth: int) -> None:
    assert depth < 40
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            check_numbers(item, depth + 1)
    elif isinstance(value, int):
        assert abs(value) <= 2 * LARGEST  # a message may have the sum of two counts


def check_histogram(summary: Mapping[str, Any]) -> None:
    counts = {int(bucket): held for bucket, held in summary["histogram"]["counts"].items()}
    assert all(held > 0 for held in counts.values())
    assert summary["count"] == sum(counts.values())
    if counts:
        assert summary["min_ns"] <= summary["mean_ns"] <= summary["max_ns"]
        assert (bucket_of(summary["min_ns"]), bucket_of(summary["max_ns"])) == (min(counts), max(counts))
