"""Find the modules that each build one section of a report.

They are the modules of this package, those of reports/parts/ whose section others share something
with, and the files *_section.py of the experiments. Each has
    PLACE: int                            its position in a report; smaller numbers come first
    section(view: View) -> Section        the facts of the run; empty if there are none
A section of one experiment also has
    VIEW: str                             the view of that experiment's plan
A section that a search for the capacity shows, too, also has
    OF_SEARCHES: bool                     True; all other sections are left out of such a report

reports/write.py calls sections() for the page and the files of a report, and commands/report.py for
the terminal. A section() only makes a value from the view (reports/view.py): it writes nothing, and
does not change what the view returns, which all sections share.
"""

import traceback
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import experiments
from core.messages import Message, message, verbatim
from reports import parts
from reports.document import Section
from reports.view import View


@cache
def modules() -> tuple[ModuleType, ...]:
    """Return the modules of all sections, in the order in which a report shows them."""
    # sorted() is stable: modules with the same PLACE stay in the order of their names, and those of
    # this package come before those of the experiments.
    own = (*iter_modules(__path__, f"{__name__}."), *iter_modules(parts.__path__, "reports.parts."))
    names = (*(module.name for module in own), *experiments.modules(experiments.SECTIONS))
    placed = (module for module in map(import_module, names) if hasattr(module, "PLACE"))
    return tuple(sorted(placed, key=attrgetter("PLACE")))


def sections(view: View) -> list[Section]:
    """Return the sections of a run's report: all sections that apply to the run and
    are not empty. In place of a section that a bug prevents stands a sentence that says so.
    """
    made = (_made(module, view) for module in modules() if _belongs(module, view))
    return [section for section in made if section]


def _made(module: ModuleType, view: View) -> Section:
    try:
        made: Section = module.section(view)
    except Exception as error:
        said = bug(module.__name__, error)
        return Section(module.__name__, verbatim(module.__name__), sentences=[said], bug=said)
    return made


def bug(name: str, error: Exception) -> Message:
    """Return a message that a part of the report could not be created, with the error and its place
    in the code.
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    return message(
        "{name} could not be created ({kind}: {cause}, in {where}). Please report this bug.",
        name=name,
        kind=type(error).__name__,
        cause=str(error),
        where=f"{Path(last.filename).name}:{last.lineno}",
    )


def _belongs(module: ModuleType, view: View) -> bool:
    """Return whether a report on the run has the section of *module*; few belong to a search for
    the capacity.
    """
    if view.plan.objectives:
        return getattr(module, "OF_SEARCHES", False)
    return getattr(module, "VIEW", view.plan.view) == view.plan.view
