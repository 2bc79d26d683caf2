"""The orchestrator's side of core/inside: what a service's processes are started with, and what they wrote."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.places import REPOSITORY

FOLDER = "GILSCOPE_INSIDE"
OPTIONS = "inside.json"
SOURCE = REPOSITORY / "core" / "inside"


def variables(folder: Path, parts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Environment variables under which a Python process starts *parts* and writes what they see to *folder*.

    parts: options by the part's name (core/inside)
    """
    (folder / OPTIONS).write_text(json.dumps({name: dict(options) for name, options in parts.items()}), "utf-8")
    return {FOLDER: str(folder), "PYTHONPATH": str(SOURCE)}
