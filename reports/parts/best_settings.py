"""The best of several settings under each runtime: which it is, what the best setting of another
runtime costs there, and the section of the page with a table of settings by runtime.

parts/answer.py and sections/capacity.py of reports/ use parts of it, too, and
reports/sections/__init__.py finds section(), which only makes a value. A choice is the best of
several candidates under one runtime (analysis/choice.py): even-numbered blocks choose it, and
odd-numbered blocks judge it. Every ratio here is from the judging blocks. A kind of work is the
JSON text of the parameters that all candidates of a choice have in common.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from analysis.cell_index import Row, of_rows
from analysis.cell_index import number as parameter
from analysis.choice import FEWEST_BLOCKS, Choice, judged_ratio, judging, may_be_chance, why_failed
from analysis.comparison_words import Comparison, doubt_of
from analysis.confounds import differ, measured_shape, shape_text
from analysis.formats import hundredths, percent, whole
from analysis.metrics import median_of, memory_bytes, requests_per_s
from analysis.settings import SHAPE, about, parameter_values, place_in_plan, varying
from analysis.stats import Estimate, paired_ratio
from core.languages import ENGLISH
from core.messages import AND, NOTHING, SEMICOLON, Message, listed, message, verbatim
from record.comparison import Key
from reports.document import Datum, Section, Table, estimate, number, traced
from reports.parts.comparison_table import ratio_datum
from reports.tables import Col, col, table
from reports.view import View

PLACE = 42  # in the order of sections (reports/sections/__init__.py)
JUDGED = "of judging blocks"  # name of the figure on the page
BEST_MARK = "* "  # before the figure of the best setting of a runtime (Datum.mark)
Line = tuple[Message, dict[str, Datum]]  # a setting, and its figure by runtime
SETTINGS = message(
    "Requests/s of each setting. * marks the best setting of a runtime, which was chosen in other "
    "blocks than those shown"
)
HOW = message(
    "The best setting under each runtime is marked *. It took the least time per request in "
    "the blocks (rounds of measurement) with even numbers. Requests/s, ratios and verdicts are "
    "from the blocks with odd numbers alone, so luck in the choice cannot influence them. The "
    "choice is among all measured settings that do the same work: those of your own service, "
    "or those of all systems with gilscope's wire protocol. 2x4 means 2 processes of 4 threads "
    "each. p values are adjusted for the number of comparisons of best settings."
)


def section(view: View) -> Section:
    """Return the report's section on each runtime's best setting, with a sentence for each runtime
    and comparison.
    """
    works = _works(view)
    settings = setting_table(SETTINGS, [(work.label, work.lines) for work in works])
    sentences = [sentence for work in works for sentence in work.sentences]
    sentences += _topology_sentences(view)
    return Section(
        "best",
        message("The best setting under each runtime"),
        sentences=[*best_sentences(view), *sentences],
        tables=(settings,),
        notes=(HOW,) if settings else (),
        terminal=(settings, *sentences) if not view.plan.judged_steps else (),
    )


def best_sentences(view: View) -> list[Message]:
    """Return for each kind of work the best setting under each runtime, and what the best settings
    of the other runtimes cost there.
    """
    return [about(sentence, work.label) for work in _works(view) for sentence in work.summary]


def _works(view: View) -> list["Work"]:
    return [Work(work, choices, view) for work, choices in view.choices.items()]


class Work:
    """The settings that do the same work, with the choice of the best one under each runtime.

    work: the parameters that the settings have in common, as JSON
    label: the parameter values that distinguish this work from the run's other kinds of work
    """

    def __init__(self, work: str, choices: Mapping[str, Choice[Row]], view: View) -> None:
        self._work, self._choices, self._view = work, choices, view
        self._rows = _candidates(choices)
        every = [row for same in view.choices.values() for row in _candidates(same)]
        self.label = verbatim(parameter_values(json.loads(work), varying(every)))

    def _name(self, row: Row) -> Message:
        """Return what distinguishes a setting: its system, and its title in the plan or its
        parameters.
        """
        is_one_system = len({other.system for other in self._rows}) == 1
        system = NOTHING if is_one_system else self._view.settings.number(row.system)
        values = place_in_plan(row.params, varying(self._rows), is_own=True)
        return listed(filter(None, [system, Message(msgid=row.title) if row.title else values]))

    def _ratio(self, below: Row, above: Row) -> Estimate | Message:
        """Return the throughput of *above* divided by that of *below*, or why it is not known."""
        return judged_ratio(below, above, doubt_of(self._view.comparisons))

    @property
    def summary(self) -> Iterator[Message]:
        """Sentences on the best setting under each runtime, and on what it costs under others."""
        best = {arm: choice.best for arm, choice in self._choices.items() if choice.best}
        found = [
            message("{setting} on {runtime}", runtime=arm, setting=self._named(row, arm))
            for arm, row in best.items()
        ]
        if found:
            said = message("Best setting: {found}.", found=listed(found, SEMICOLON))
            yield traced(said, of_rows(best.values()))
        for here, row in best.items():
            elsewhere = {other.key: arm for arm, other in best.items() if other.key != row.key}
            for other in self._choices[here].candidates:
                if other.key in elsewhere:
                    said = self._cost(row, other, elsewhere[other.key])
                    yield traced(said, of_rows([row, other]))

    def _named(self, best: Row, arm: str) -> Message:
        """Return the best setting under the runtime *arm*, and the second if the judging blocks do
        not tell them apart.
        """
        name, second = self._name(best), self._choices[arm].second
        ratio = self._ratio(second, best) if second else None
        if second is None or (isinstance(ratio, Estimate) and ratio.low > 1):
            return name
        return message("{best} or {second} (undecided)", best=name, second=self._name(second))

    def _cost(self, row: Row, other: Row, arm: str) -> Message:
        """Return what the setting *other*, the best under the runtime *arm*, costs where *row* is
        the best, or why this is not known.
        """
        # the loss is 1 - ratio, so its ends swap
        ratio = self._ratio(row, other)
        names: dict[str, Any] = {
            "other": arm, "setting": self._name(other), "runtime": row.runtime,
        }  # fmt: skip
        if not isinstance(ratio, Estimate):
            return message(
                "It is not known how much throughput the best setting on {other} ({setting}) loses "
                "on {runtime}: {reason}.",
                reason=ratio,
                **names,
            )
        if may_be_chance(ratio) or ratio.value >= 1:
            return message(
                "On {runtime}, another setting was faster than the best one on {other} "
                "({setting}), but this may be chance.",
                **names,
            )
        return message(
            "The best setting on {other} ({setting}) costs {cost} of the throughput ({low} to "
            "{high}) on {runtime}.",
            cost=percent(1 - ratio.value),
            low=percent(1 - ratio.high),
            high=percent(1 - ratio.low),
            **names,
        )

    @property
    def lines(self) -> list[Line]:
        """The requests/s of each setting under each runtime in the judging blocks, in the plan's
        order.
        """
        found: dict[Key, Line] = {}
        for row in self._view.rows:
            # By identity: view.choices has the rows of view.rows themselves.
            if any(row is candidate for candidate in self._rows):
                judged = [cell for cell in judging(row).values() if cell.status == "ok"]
                rate = median_of(requests_per_s, judged) or None
                mark = BEST_MARK if row is self._choices[row.runtime].best else ""
                _, data = found.setdefault(row.key, (self._name(row), {}))
                data[row.runtime] = number(rate, whole, row.trace, JUDGED, mark=mark)
        return [*found.values()]

    @property
    def sentences(self) -> Iterator[Message]:
        """Sentences on settings that failed, on the best setting of each runtime, and on
        comparisons of these.
        """
        for arm, choice in self._choices.items():
            for row in choice.failed:
                failed = message(
                    "{setting} cannot be chosen as the best setting: {reason}.",
                    setting=self._name(row), reason=why_failed(row),
                )  # fmt: skip
                yield traced(about(failed, self.label, arm), row.trace)
            if choice.best:
                yield about(self._best_sentence(choice.best, choice), self.label, arm)
        for step in self._view.between_bests:
            # The params of a step between best settings are the work, in the same order of keys.
            if json.dumps(step.params) == self._work:
                yield traced(about(self._step_sentence(step), self.label), step.trace)

    def _best_sentence(self, best: Row, choice: Choice[Row]) -> Message:
        """Return a sentence on the best setting of a runtime, with its ratio to the second."""
        sentence = chosen_words(self._name(best), choice)
        if choice.second:
            second = self._name(choice.second)
            times = self._ratio(choice.second, best)
            if isinstance(times, Estimate):
                chance = message(" (the difference may be chance)")
                sentence = message(
                    "{chosen}, and has {ratio} times the throughput of the second-best "
                    "setting, {setting}{note}",
                    chosen=sentence,
                    ratio=estimate(times, hundredths),
                    setting=second,
                    note=chance if may_be_chance(times) else NOTHING,
                )
            else:
                sentence = message(
                    "{chosen}; it could not be compared with the second-best setting, "
                    "{setting}: {reason}",
                    chosen=sentence, setting=second, reason=times,
                )  # fmt: skip
        return traced(message("{clauses}.", clauses=sentence), of_rows([best, *choice.dropped]))

    def _step_sentence(self, step: Comparison) -> Message:
        """Return a sentence that compares the best settings of two runtimes: throughput, memory and
        verdict.
        """
        above, below = self._choices[step.numerator].best, self._choices[step.denominator].best
        assert above
        assert below
        names: dict[str, Any] = {
            "numerator": step.numerator, "above": self._name(above),
            "denominator": step.denominator, "below": self._name(below),
        }  # fmt: skip
        if step.ratio is None:
            return message(
                "The best settings on {numerator} ({above}) and on {denominator} ({below}) cannot "
                "be compared: {why}.",
                why=step.why, **names,
            )  # fmt: skip
        verdict = step.word
        if step.obstacle:
            verdict = message("{verdict} ({why})", verdict=verdict, why=step.obstacle)
        ratios = message("{ratio} times the throughput", ratio=ratio_datum(step).text(ENGLISH))
        # paired_ratio() divides the first by the second: it is made for times, not throughputs.
        if memory := paired_ratio(_memory(above), _memory(below)):
            more = message("{ratio} times the memory", ratio=estimate(memory, hundredths))
            ratios = listed([ratios, more], last=AND)
        return message(
            "The best setting on {numerator} ({above}) has {ratios} of the best setting on "
            "{denominator} ({below}): {verdict}.",
            ratios=ratios, verdict=verdict, **names,
        )  # fmt: skip


def _candidates(choices: Mapping[str, Choice[Row]]) -> list[Row]:
    return [row for choice in choices.values() for row in choice.candidates]


def _memory(row: Row) -> dict[int, float]:
    """Return the memory of the services in bytes in each judging block."""
    return {
        block: taken
        for block, cell in judging(row).items()
        if (taken := memory_bytes(cell.services))
    }


def _topology_sentences(view: View) -> Iterator[Message]:
    """Yield sentences on topologies: too few blocks, and unexpected numbers of threads."""
    rows = [row for row in view.rows if row.good and {*SHAPE} <= row.params.keys()]
    fewest = 1 if view.plan.own else 2  # a sweep of workers alone compares no topologies
    if len({*SHAPE} & {*varying(rows)}) < fewest:
        return
    if view.plan.blocks < FEWEST_BLOCKS:
        yield message(
            "To choose the best numbers of processes and threads and then check the choice, a run "
            "needs at least {count} blocks. Use --blocks {count}.",
            count=FEWEST_BLOCKS,
        )
    for row in rows:
        asked = parameter(row.good[0], SHAPE[0]), parameter(row.good[0], SHAPE[1])
        counted = measured_shape(row.good) or asked
        if differ(asked, counted):
            reshaped = message(
                "{arm}: the service was configured as {asked} (processes x threads) but ran as "
                "{shape}.",
                asked=shape_text(asked), arm=row.runtime, shape=shape_text(counted),
            )  # fmt: skip
            yield traced(reshaped, row.trace)


# ---- for a search of the capacity, too -----------------------------------------------------------


def setting_table(name: Message, groups: Sequence[tuple[Message, Sequence[Line]]]) -> Table:
    """Return a table with a line for each setting and a column for each runtime.

    groups: (title, lines) of each group; a setting without a figure under a runtime shows '-'
    """
    arms = dict.fromkeys(arm for _, lines in groups for _, data in lines for arm in data)
    columns: list[Col[Line]] = [col("Setting", itemgetter(0))]
    # `whole` makes these columns of numbers; each Datum formats its own figure
    columns += [col(verbatim(arm), partial(_datum, arm), whole) for arm in arms]
    return table(name, columns, groups, titled=True)


def _datum(arm: str, line: Line) -> Datum | None:
    return line[1].get(arm)


def chosen_words(best: Message | str, choice: Choice[Any]) -> Message:
    """Return a clause on which setting was chosen, and from how many."""
    return message(
        "{setting} was chosen from {count} settings", setting=best, count=len(choice.candidates)
    )
