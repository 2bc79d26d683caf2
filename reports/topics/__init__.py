"""The topics of a report: a file each. A file that is put here is part of every report: nothing else lists topics.

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
from functools import cache
from importlib import import_module
from types import ModuleType

from core.messages import Message
from core.result import Run
from reports.document.model import Section
from reports.view import View


@cache
def topics() -> tuple[ModuleType, ...]:
    """The modules of all topics, in the order of a report."""
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return tuple(sorted((module for module in modules if hasattr(module, "PLACE")), key=lambda module: module.PLACE))


def sections(view: View) -> list[Section]:
    """What the run has something to say on."""
    mine = [topic for topic in topics() if getattr(topic, "VIEW", view.plan.view) == view.plan.view]
    return [section for topic in mine if (section := _section(topic, view))]


def lacking(view: View) -> list[tuple[Message, str]]:
    """What the run does not have of that which reports can show, and the command that would measure it."""
    wanted = [topic for topic in topics() if hasattr(topic, "WANTED")]
    return [(topic.WANTED, _command(topic, view)) for topic in wanted if not _is_measured(topic, view)]


def of_run(command: Callable[[Run], str]) -> Callable[[View], str]:
    """A topic's COMMAND that is the run's."""
    return lambda view: command(view.run)


def _section(topic: ModuleType, view: View) -> Section:
    """The section of a topic, made once."""
    if topic.__name__ not in view.sections:
        view.sections[topic.__name__] = topic.section(view)
    return view.sections[topic.__name__]


def _is_measured(topic: ModuleType, view: View) -> bool:
    return bool(topic.is_measured(view) if hasattr(topic, "is_measured") else _section(topic, view))


def _command(topic: ModuleType, view: View) -> str:
    return topic.COMMAND if isinstance(topic.COMMAND, str) else str(topic.COMMAND(view))
