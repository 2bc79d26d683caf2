"""Find the modules and plans of experiments. Each experiment is a folder that can be removed
without other changes.

A folder NAME may contain
    NAME.yaml           the plan for `--experiment NAME`
    PREFIX_systems.py   SYSTEMS, a table of the systems whose names begin with PREFIX
    NAME_section.py     the section of the report; only *_section*.py may import reports
as well as services and clients of these systems, and README.md. See docs/architecture.md.

A system module and the services and clients of a folder run under the measured runtimes, and import
core/, services/ and clients/. systems/__init__.py, config/ and reports/sections/ call the functions
below.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).parent
SECTIONS = "*_section"


def modules(pattern: str) -> list[str]:
    """Return the names of the modules of all experiments whose file names match *pattern*."""
    return [
        f"{__name__}.{path.parent.name}.{path.stem}"
        for path in sorted(FOLDER.glob(f"*/{pattern}.py"))
    ]


def is_section(path: str) -> bool:
    """Return whether the module at *path* makes a report section. Measured processes never import
    such modules.
    """
    return path.startswith(str(FOLDER)) and "_section" in os.path.basename(path)


def plans() -> list[Path]:
    """Return the paths of the experiments' plans."""
    return sorted(FOLDER.glob("*/*.yaml"))
