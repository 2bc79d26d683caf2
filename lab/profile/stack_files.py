"""Sampled stacks as others draw them: a tree for flame graphs, collapsed stacks, and a file for speedscope. Pure.

Formats: https://github.com/brendangregg/FlameGraph, https://www.speedscope.app/file-format-schema.json
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lab.profile.stacks import UNKNOWN, WORK, Samples, Stack, StackFrame


def tree(samples: Samples, fewest_share: float = 0.003) -> dict[str, Any]:
    """The stacks at work as flame graphs have them, with the thread's state innermost; small parts are left out."""
    root: dict[str, Any] = {"name": "", "value": 0, "children": {}}
    for (state, stack), count in samples.at_work.items():
        node = root
        for name in (*_names(stack), f"[{state}]"):
            node["value"] += count
            node = node["children"].setdefault(name, {"name": name, "value": 0, "children": {}})
        node["value"] += count
    return _pruned(root, max(1.0, fewest_share * root["value"]))


def _names(stack: Stack) -> list[str]:
    """The outermost first; only the innermost has its line, so that calls from several lines are one."""
    outer = [f"{frame.function} ({frame.file})" for frame in reversed(stack[1:])]
    return [*outer, str(stack[0]) if stack[0] != UNKNOWN else "?"]


def _pruned(node: Mapping[str, Any], fewest: float) -> dict[str, Any]:
    children = [_pruned(child, fewest) for child in node["children"].values() if child["value"] >= fewest]
    return {"name": node["name"], "value": node["value"], **({"children": children} if children else {})}


def folded(samples: Samples) -> str:
    """Collapsed stacks: a line each, the outermost frame first, the state last, and how often."""
    lines = Counter[str]()
    for (state, stack), count in samples.total.items():
        lines[";".join([*(str(frame).replace(";", ":") for frame in reversed(stack)), f"[{state}]"])] += count
    return "".join(f"{line} {count}\n" for line, count in sorted(lines.items()))


def speedscope(samples: Samples, name: str) -> str:
    """A file for speedscope: a profile of all samples, and one of those of each state."""
    numbers: dict[StackFrame, int] = {}
    profiles = [_profile(samples, name, state, numbers) for state in ("", *WORK, "idle")]
    frames = [{"name": frame.function, "file": frame.file, "line": frame.line} for frame in numbers]
    schema = "https://www.speedscope.app/file-format-schema.json"
    return json.dumps({"$schema": schema, "name": name, "shared": {"frames": frames}, "profiles": profiles})


def _profile(samples: Samples, name: str, state: str, numbers: dict[StackFrame, int]) -> dict[str, Any]:
    """*state*: "" for all. The state is the innermost frame."""
    mine = {key: count for key, count in samples.total.items() if state in ("", key[0])}
    stacks = [
        [numbers.setdefault(frame, len(numbers)) for frame in (*reversed(stack), UNKNOWN._replace(function=f"[{of}]"))]
        for of, stack in mine
    ]
    weights = [round(count * 1000 / max(1, samples.rate_hz), 3) for count in mine.values()]
    title = {"type": "sampled", "name": f"{name} {state}".strip(), "unit": "milliseconds"}
    return {**title, "startValue": 0, "endValue": sum(weights), "samples": stacks, "weights": weights}
