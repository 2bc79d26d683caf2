"""Values that a child may say in place of the right one, and what a cell that was saved must be like."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.histogram import bucket_of
from tests.lab.scripted_children import GIL_ON

LARGEST = 2**63 - 1

HUGE = (
    *("1" + "0" * 400, "1" + "0" * 5000, '"' + "x" * 100_000 + '"', "[null" + ", null" * 999 + "]"),
    *("[" * 200_000, '{"a":' * 200_000, "[" * 500 + "]" * 500),
)
TEXTS = Path(__file__).with_name("values.txt").read_text("utf-8").splitlines()
VALUES = (*TEXTS, *HUGE, "", None)


def is_json(raw: str) -> bool:
    """As a reader other than the product's has it."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return raw not in ("NaN", "Infinity", "-Infinity")


NO_JSON = {raw for raw in VALUES if raw is not None and not is_json(raw)}


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
