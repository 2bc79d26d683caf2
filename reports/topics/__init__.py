"""Find the topics, which are modules that each build one section of a report.

The topics are modules of this package, and the file topic.py of each experiment that has one. A topic has
    PLACE: int                            its position in a report; smaller numbers come first
    section(view: View) -> Section        the facts of the run on this topic; empty if there are none
If the topic belongs to one experiment, it also has
    VIEW: str                             the view of that experiment's plan
If a search for the capacity shows it, too, it also has
    OF_SEARCHES: bool                     True
"""

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

import experiments
from reports.document.model import Section
from reports.view import View


@cache
def topics() -> tuple[ModuleType, ...]:
    """Return the modules of all topics (sections of a report), in the order in which a report shows them."""
    names = (f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
    modules = [import_module(name) for name in (*names, *experiments.modules(experiments.TOPIC))]
    return tuple(sorted((module for module in modules if hasattr(module, "PLACE")), key=lambda module: module.PLACE))


def sections(view: View) -> list[Section]:
    """Return the sections of a run's report: all sections that apply to the run and are not empty."""
    shown = [topic for topic in topics() if _belongs(topic, view)]
    return [section for section in (topic.section(view) for topic in shown) if section]


def _belongs(topic: ModuleType, view: View) -> bool:
    """Return whether a report on the run has a section for *topic*. Few sections apply to a search for the capacity."""
    if view.plan.objectives:
        return getattr(topic, "OF_SEARCHES", False)
    return getattr(topic, "VIEW", view.plan.view) == view.plan.view
