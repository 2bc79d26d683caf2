"""Convert sampled stacks to the formats of flame graphs, collapsed stacks and speedscope. Does no I/O.

Formats: https://github.com/brendangregg/FlameGraph, https://www.speedscope.app/file-format-schema.json
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lab.profile.stacks import UNKNOWN, WORK, Samples, Stack, StackFrame

LEAST_SHARE = 0.003  # of the samples


def tree(samples: Samples) -> dict[str, Any]:
    """Return stacks of non-idle threads as a flame graph tree, without nodes below LEAST_SHARE of the samples.

    The innermost node of each stack is the thread's state.
    """
    root: dict[str, Any] = {"name": "", "value": 0, "children": {}}
    for (state, stack), count in samples.at_work.items():
        node = root
        for name in (*_names(stack), f"[{state}]"):
            node["value"] += count
            node = node["children"].setdefault(name, {"name": name, "value": 0, "children": {}})
        node["value"] += count
    return _pruned(root, max(1.0, LEAST_SHARE * root["value"]))


def _names(stack: Stack) -> list[str]:
    """Return the names of a stack's frames for display, outermost first.

    Only the innermost name has a line number, so calls from several lines of one function share a node.
    """
    outer = [f"{frame.function} ({frame.file})" for frame in reversed(stack[1:])]
    return [*outer, str(stack[0]) if stack[0] != UNKNOWN else "?"]


def _pruned(node: Mapping[str, Any], fewest: float) -> dict[str, Any]:
    children = [_pruned(child, fewest) for child in node["children"].values() if child["value"] >= fewest]
    return {"name": node["name"], "value": node["value"], **({"children": children} if children else {})}


def folded(samples: Samples) -> str:
    """Return collapsed stacks: a line per stack with its frames, outermost first, thread state, and sample count."""
    lines = Counter[str]()
    for (state, stack), count in samples.total.items():
        lines[";".join([*(str(frame).replace(";", ":") for frame in reversed(stack)), f"[{state}]"])] += count
    return "".join(f"{line} {count}\n" for line, count in sorted(lines.items()))


def speedscope(samples: Samples, name: str) -> str:
    """Return the content of a speedscope file, with a profile of all samples and a profile per thread state."""
    numbers: dict[StackFrame, int] = {}
    profiles = [_profile(samples, name, state, numbers) for state in ("", *WORK, "idle")]
    frames = [{"name": frame.function, "file": frame.file, "line": frame.line} for frame in numbers]
    schema = "https://www.speedscope.app/file-format-schema.json"
    return json.dumps({"$schema": schema, "name": name, "shared": {"frames": frames}, "profiles": profiles})


def _profile(samples: Samples, name: str, state: str, numbers: dict[StackFrame, int]) -> dict[str, Any]:
    """Return a speedscope profile of the samples with thread state *state*, or of all samples if *state* is "".

    The innermost frame of each stack is the state.
    """
    mine = {key: count for key, count in samples.total.items() if state in ("", key[0])}
    stacks = [
        [numbers.setdefault(frame, len(numbers)) for frame in (*reversed(stack), UNKNOWN._replace(function=f"[{of}]"))]
        for of, stack in mine
    ]
    weights = [round(count * 1000 / max(1, samples.rate_hz), 3) for count in mine.values()]
    title = {"type": "sampled", "name": f"{name} {state}".strip(), "unit": "milliseconds"}
    return {**title, "startValue": 0, "endValue": sum(weights), "samples": stacks, "weights": weights}
