"""The best setting under each runtime: a table of settings by runtime, and what the best setting of
another runtime costs there.

parts/answer.py, sections/best.py and sections/capacity.py of reports/ use it. A choice is the best
of several candidates under one runtime (analysis/choice.py). In a run of blocks, some blocks choose
and the others judge the chosen setting. Every ratio here is from the judging blocks. A work is the
set of parameters that all candidates of a choice have in common, as JSON text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from analysis.cell_index import Row, of_rows
from analysis.choice import Choice, judged_ratio, may_be_chance
from analysis.comparing import doubt
from analysis.formats import percent, whole
from analysis.settings import about, parameter_values, place_in_plan, varying
from analysis.stats import Estimate
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from reports.document import Datum, Table, traced
from reports.tables import Col, col, table
from reports.view import View

BEST_MARK = "* "  # before the figure of the best setting of a runtime (Datum.mark)
Line = tuple[Message, dict[str, Datum]]  # a setting, and its figure by runtime


def setting_name(row: Row, among: Sequence[Row], view: View) -> Message:
    """Return what distinguishes a setting from the others *among* which it was measured: its
    system, and its title in the plan or its parameters.
    """
    systems = {other.system for other in among}
    system = view.settings.number(row.system) if len(systems) > 1 else NOTHING
    values = (
        Message(msgid=row.title)
        if row.title
        else place_in_plan(row.params, varying(among), is_own=True)
    )
    return listed(filter(None, [system, values]))


def work_label(work: str, view: View) -> Message:
    """Return the parameter values that distinguish a kind of work from the run's others; empty for
    one kind.

    work: the parameters that its settings have in common, as JSON
    """
    rows = [
        row
        for same in view.choices.values()
        for choice in same.values()
        for row in choice.candidates
    ]
    return verbatim(parameter_values(json.loads(work), varying(rows)))


def best_sentences(view: View) -> list[Message]:
    """Return for each kind of work the best setting under each runtime, and what the best settings
    of the other runtimes cost there.
    """
    return [
        about(sentence, work_label(work, view))
        for work, choices in view.choices.items()
        for sentence in _sentences(choices, view)
    ]


def _sentences(choices: Mapping[str, Choice[Row]], view: View) -> Iterator[Message]:
    among = [row for choice in choices.values() for row in choice.candidates]
    best = {arm: choice.best for arm, choice in choices.items() if choice.best}
    found = [
        message("{setting} on {runtime}", runtime=arm, setting=_named(choices[arm], among, view))
        for arm in best
    ]
    if found:
        said = message("Best setting: {found}.", found=listed(found, SEMICOLON))
        yield traced(said, of_rows(best.values()))
    for here, row in best.items():
        elsewhere = {other.key: arm for arm, other in best.items() if other.key != row.key}
        for other in choices[here].candidates:
            if other.key in elsewhere:
                name = setting_name(other, among, view)
                yield from _cost(row, other, elsewhere[other.key], name, view)


def _named(choice: Choice[Row], among: Sequence[Row], view: View) -> Message:
    """Return the best setting, and the second if the judging blocks do not tell them apart.

    choice: one that has ended, so its best setting is known
    """
    best, second = choice.best, choice.second
    assert best
    name = setting_name(best, among, view)
    # throughput of the best divided by that of the second
    ratio = judged_ratio(second, best, doubt(view.comparisons)) if second else None
    if second is None or (isinstance(ratio, Estimate) and ratio.low > 1):
        return name
    return message(
        "{best} or {second} (undecided)", best=name, second=setting_name(second, among, view)
    )


def _cost(row: Row, other: Row, arm: str, name: Message, view: View) -> Iterator[Message]:
    """Yield what the setting *other*, the best under the runtime *arm*, costs where *row* is the
    best, or why this is not known.
    """
    # throughput of the other divided by that of the best; the loss is 1 - ratio, so its ends swap
    ratio = judged_ratio(row, other, doubt(view.comparisons))
    about_it: dict[str, Any] = {"other": arm, "setting": name, "runtime": row.runtime}
    if not isinstance(ratio, Estimate):
        said = message(
            "It is not known how much throughput the best setting on {other} ({setting}) loses "
            "on {runtime}: {reason}.",
            reason=ratio,
            **about_it,
        )
    elif may_be_chance(ratio) or ratio.value >= 1:
        said = message(
            "On {runtime}, another setting was faster than the best one on {other} "
            "({setting}), but this may be chance.",
            **about_it,
        )
    else:
        said = message(
            "The best setting on {other} ({setting}) costs {cost} of the throughput ({low} to "
            "{high}) on {runtime}.",
            cost=percent(1 - ratio.value),
            low=percent(1 - ratio.high),
            high=percent(1 - ratio.low),
            **about_it,
        )
    yield traced(said, of_rows([row, other]))


def setting_table(
    name: Message, groups: Sequence[tuple[Message, Sequence[Line]]], **more: Any
) -> Table:
    """Return a table with a line for each setting and a column for each runtime.

    groups: (title, lines) of each group; a setting without a figure under a runtime shows '-'
    more: other fields of Table
    """
    arms = dict.fromkeys(arm for _, lines in groups for _, data in lines for arm in data)
    columns: list[Col[Line]] = [col("Setting", itemgetter(0))]
    # `whole` makes these columns of numbers; each Datum formats its own figure
    columns += [col(verbatim(arm), partial(_datum, arm), whole) for arm in arms]
    return table(name, columns, groups, **more)


def _datum(arm: str, line: Line) -> Datum | None:
    return line[1].get(arm)


def chosen_words(best: Message | str, choice: Choice[Any]) -> Message:
    """Return a clause on which setting was chosen, and from how many."""
    return message(
        "{setting} was chosen from {count} settings", setting=best, count=len(choice.candidates)
    )
