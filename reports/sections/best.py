"""The best of several settings under each runtime: a table of settings by runtime, and a sentence
for each runtime.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
Even-numbered blocks choose the best setting, and odd-numbered blocks judge it
(analysis/choice.py). A kind of work is the JSON text of the parameters that its settings share.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.cell_index import Row, of_rows
from analysis.cell_index import number as parameter
from analysis.choice import FEWEST_BLOCKS, Choice, judged_ratio, judging, may_be_chance, why_failed
from analysis.comparing import Comparison, doubt
from analysis.formats import hundredths, whole
from analysis.metrics import median_of, memory_bytes, requests_per_s
from analysis.settings import SHAPE, about, varying
from analysis.stats import Estimate, paired_ratio
from analysis.topologies import differ, measured_shape, shape_text
from core.languages import ENGLISH
from core.messages import AND, NOTHING, Message, listed, message
from record.comparison import Key
from reports.document import Section, estimate, number, traced
from reports.parts.best_settings import (
    BEST_MARK,
    Line,
    best_sentences,
    chosen_words,
    setting_name,
    setting_table,
    work_label,
)
from reports.parts.comparison_table import ratio_datum
from reports.view import View

PLACE = 42  # in the order of sections (reports/sections/__init__.py)
JUDGED = "of judging blocks"  # name of the figure on the page
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
    works = [Work(work, same, view) for work, same in view.choices.items()]
    settings = setting_table(SETTINGS, [(work.label, work.lines) for work in works], titled=True)
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


# ---- the table of settings by runtime ------------------------------------------------------------


class Work:
    """The settings that do the same work, with the choice of the best one under each runtime.

    work: the parameters that the settings have in common, as JSON
    label: the parameter values that distinguish this work from the run's other kinds of work
    """

    def __init__(self, work: str, choices: Mapping[str, Choice[Row]], view: View) -> None:
        self._work, self._choices, self._view = work, choices, view
        self._rows = [row for choice in choices.values() for row in choice.candidates]
        self.label = work_label(work, view)

    def _name(self, row: Row) -> Message:
        """Return what distinguishes a setting: its system, and its title in the plan or its
        parameters.
        """
        return setting_name(row, self._rows, self._view)

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
            # throughput of the best divided by that of the second, or why it is not known
            times = judged_ratio(choice.second, best, doubt(self._view.comparisons))
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
