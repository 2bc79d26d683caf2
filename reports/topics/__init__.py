"""The topics of a report: a file each. A file that is put here, or topic.py of an experiment, is part of every report.

A topic has
    PLACE: int                            its order in a report
    section(view: View) -> Section        what the run has to say on it; empty where that is nothing
and, if it is of one experiment alone,
    VIEW: str                             the view of that experiment's plan
and, where the report of a run without it shall say how to measure it,
    WANTED: Message                       what it would show
    COMMAND: str | Callable[[View], str]  the command that would measure it
    is_measured(view: View) -> bool       whether the run has it; without this: whether the section is not empty
"""

import pkgutil
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from types import ModuleType

import experiments
from core.messages import Message
from core.result import Run
from reports.document.model import Section
from reports.view import View


@cache
def topics() -> tuple[ModuleType, ...]:
    """Return the modules of all topics, in the order of a report."""
    names = (f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
    modules = [import_module(name) for name in (*names, *experiments.modules(experiments.TOPIC))]
    return tuple(sorted((module for module in modules if hasattr(module, "PLACE")), key=lambda module: module.PLACE))


def sections(view: View) -> list[Section]:
    """Return the sections of the topics that the run has something to say on."""
    mine = [topic for topic in topics() if getattr(topic, "VIEW", view.plan.view) == view.plan.view]
    return [section for topic in mine if (section := _section(topic, view))]


def lacking(view: View) -> list[tuple[Message, str]]:
    """Return what reports can show and the run does not have, with the command that would measure it."""
    return [
        (topic.WANTED, topic.COMMAND if isinstance(topic.COMMAND, str) else topic.COMMAND(view))
        for topic in topics()
        if hasattr(topic, "WANTED") and not getattr(topic, "is_measured", partial(_section, topic))(view)
    ]


def of_run(command: Callable[[Run], str]) -> Callable[[View], str]:
    """Return a topic's COMMAND that is made of the run."""
    return lambda view: command(view.run)


def _section(topic: ModuleType, view: View) -> Section:
    """Return the section of a topic, made once."""
    if topic.__name__ not in view.sections:
        view.sections[topic.__name__] = topic.section(view)
    return view.sections[topic.__name__]
