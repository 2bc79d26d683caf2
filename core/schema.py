"""The version of result.json, and how a file of an older one is read."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.messages import verbatim

SCHEMA = 3

# What schema 1 called what disturbs a cell (`other processes: use 1.36 of 2 cores`), and its code now.
_DISTURBANCES_OF_1 = {
    "load": "load",
    "CPU pressure": "cpu_pressure",
    "other processes": "other_processes",
    "CPU steal": "steal",
    "swapping": "swapping",
    "throttling": "throttling",
    "held by the quota": "quota",
    "memory pressure": "memory_pressure",
}


def _messages_for_texts(old: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 held plain English. Message.from_json() reads that as it stands; only disturbances need their code."""
    cells = [
        {**cell, "disturbances": [_disturbance(text) for text in cell.get("disturbances", ())]} for cell in old["cells"]
    ]
    return {**old, "cells": cells}


def _disturbance(text: str) -> dict[str, Any]:
    return replace(verbatim(text), code=_DISTURBANCES_OF_1.get(text.partition(":")[0], "")).to_json()


def _without_checksums(old: dict[str, Any]) -> dict[str, Any]:
    """Schema 2 had none; what such a file holds is checked by its shape alone."""
    return old


# What makes a file of schema n one of schema n + 1.
UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _messages_for_texts, 2: _without_checksums}


def upgraded(stored: Any, path: Path) -> dict[str, Any]:
    """The content of a file with today's schema. Raises BadInput for a schema that this version cannot read."""
    content: dict[str, Any] = stored if isinstance(stored, dict) else {}
    while (schema := content.get("schema")) != SCHEMA:
        if isinstance(schema, int) and schema > SCHEMA:
            raise BadInput(
                "{path} has schema {schema}, which a newer gilscope wrote; this one reads up to schema {newest}. "
                "Update gilscope, or read the file with the one that wrote it.",
                path=str(path),
                schema=schema,
                newest=SCHEMA,
            )
        if not isinstance(schema, int) or schema not in UPGRADES:
            known = ", ".join(map(str, [*UPGRADES, SCHEMA]))
            raise BadInput(
                "{path} has schema {schema}; this version reads schema {known}.",
                path=str(path),
                schema=repr(schema),
                known=known,
            )
        content = {**UPGRADES[schema](content), "schema": schema + 1}
    return content
