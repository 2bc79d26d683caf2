"""The topics of a report: a file each, with PLACE (its order on the page) and section(view).

A file that is put here is part of every report: nothing else lists topics.
"""

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

from reports.document.model import Section
from reports.view import View


@cache
def topics() -> tuple[ModuleType, ...]:
    """The modules of all topics, in the order of a report."""
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return tuple(sorted((module for module in modules if hasattr(module, "PLACE")), key=lambda module: module.PLACE))


def sections(view: View) -> list[Section]:
    """What the run has something to say on."""
    made = (topic.section(view) for topic in topics())
    return [section for section in made if section]
