"""The table of settings by runtime, with the best setting of each runtime marked."""

from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from analysis.choice import Choice
from analysis.formats import whole
from core.messages import Message, message, verbatim
from reports.document.model import Datum, Table
from reports.document.shapes import Col, col, table

BEST_MARK = "* "  # before the figure of the best setting of a runtime
Line = tuple[Message, dict[str, Datum]]  # a setting, and its figure under each runtime


def setting_table(
    name: Message, groups: Sequence[tuple[Message, Sequence[Line]]], **more: Any
) -> Table:
    """Return a table with a line for each setting and a column for each runtime."""
    arms = dict.fromkeys(arm for _, lines in groups for _, data in lines for arm in data)
    columns: list[Col[Line]] = [col("Setting", itemgetter(0))]
    columns += [col(verbatim(arm), partial(_datum, arm), whole) for arm in arms]
    return table(name, columns, groups, **more)


def _datum(arm: str, line: Line) -> Datum | None:
    return line[1].get(arm)


def chosen_words(best: Message | str, choice: Choice[Any]) -> Message:
    """Return a clause on which setting was chosen, and from how many."""
    return message(
        "{setting} was chosen from {count} settings", setting=best, count=len(choice.candidates)
    )
