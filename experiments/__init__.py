"""Experiments that stand beside the four systems: a folder each, which can be removed alone.

A folder NAME may hold
    NAME.yaml           its plan, under the name that `--experiment` takes
    PREFIX_systems.py   SYSTEMS, a table of those whose names begin with PREFIX
    topic.py            its section of the report; only topic*.py may import reports
and services and clients of its systems, README.md and whatever these need. docs/architecture.md says more.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).parent
TOPIC = "topic"


def modules(pattern: str) -> list[str]:
    """Return the names of the modules in the folders of all experiments whose files match *pattern*."""
    return [f"{__name__}.{path.parent.name}.{path.stem}" for path in sorted(FOLDER.glob(f"*/{pattern}.py"))]


def is_topic(path: str) -> bool:
    """Return whether the module *path* belongs to a topic, which no measured process imports."""
    return path.startswith(str(FOLDER)) and os.path.basename(path).startswith(TOPIC)


def plans() -> list[Path]:
    """Return the files of the experiments' plans."""
    return sorted(FOLDER.glob("*/*.yaml"))
