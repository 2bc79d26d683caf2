"""What was not measured: each thing with the command that would; topics that the run has nothing on, by themselves."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from core.messages import message
from core.result import Run
from reports import sections
from reports.document.model import Section
from reports.sections.gaps import missing
from reports.view import View
from tests.reports.contestants import TITLES
from tests.reports.sample import MS, cell_of, measured, run_of


def short() -> Run:
    cells = [measured(cell_of("2", arm), block, [2000 * MS]) for arm in ("3.11", "3.14t") for block in (1, 2)]
    return run_of(cells, blocks=2)


def gaps(section: Section) -> dict[str, str]:
    (table,) = section.tables
    return {str(what.words): str(command.words) for what, command in table.lines}


def lacks(run: Run) -> dict[str, str]:
    return gaps(missing(View(run, TITLES)))


# ---- topics ---------------------------------------------------------------------------------------------------------


def topic(name: str, has: bool, **more: Any) -> SimpleNamespace:
    words = (message("it has"),) if has else ()
    made: Callable[[View], Section] = lambda view: Section(key=name, title=message("T"), sentences=words)  # noqa: E731
    return SimpleNamespace(__name__=name, section=made, **more)


def test_every_topic_has_what_the_protocol_asks() -> None:
    def is_whole(module: ModuleType) -> bool:
        return isinstance(module.PLACE, int) and hasattr(module, "WANTED") == hasattr(module, "COMMAND")

    assert [module.__name__ for module in sections.topics() if not is_whole(module)] == []
