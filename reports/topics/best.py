"""Compare the fastest service under the plan's last runtime with the fastest service under each other runtime."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from core.languages import ENGLISH
from core.messages import NOTHING, Message, message, verbatim
from reports.document.model import Section, traced, words
from reports.document.shapes import Col, arm_col, col, table
from reports.document.values import microseconds, percent, probability, ratio, whole
from reports.facts.bests import Best
from reports.facts.cells import Setting
from reports.facts.comparisons import Comparison
from reports.facts.figures import Reader, cpu_ns, median_of, per_request, requests_per_s
from reports.facts.settings import parameter_values, varying
from reports.topics.comparisons import FLOOR, RATIO, STEP_COL, VERDICT, WHY_COL, P, ratio_datum
from reports.view import View

PLACE = 42
WANTED = message("A comparison of the best services under each runtime")
COMMAND = "python runner.py --experiment best"
TITLE = message("The best service of each runtime")
JUDGED = "of judging blocks"
HOW = message(
    "The best service under a runtime took the least time per request in the blocks (rounds of measurement) with even "
    "numbers. Candidates are all measured services with the same load and the same wire protocol; their other settings "
    "may differ. Figures and verdicts use only the blocks with odd numbers, so luck in the choice cannot influence the "
    "result. p values are adjusted for the number of comparisons in this table."
)


# The columns of the table that compares the best services of two runtimes.
STEPS: tuple[Col[Comparison], ...] = (
    STEP_COL,
    col(RATIO, lambda step: ratio_datum(step, JUDGED), ratio),
    col(P, "p", probability, JUDGED),
    col(FLOOR, "noise_floor", percent),
    col(VERDICT, lambda step: words(step.word, state=f"word {step.verdict}")),
    WHY_COL,
)


def section(view: View) -> Section:
    """Return the report's section on each runtime's best service, with a sentence for each two compared services."""
    sentences = [_sentence(step, view) for step in view.between_bests]
    groups = [(_work(json.loads(work), view), same.values()) for work, same in view.bests.items()]
    bests = table(TITLE, _bests(view), groups, titled=True)
    steps = table(message("Comparisons of the best services"), STEPS, [(NOTHING, view.between_bests)], folded=True)
    return Section(
        "best",
        TITLE,
        sentences=sentences,
        tables=(bests, steps),
        notes=(HOW,) if bests else (),
        terminal=(bests, *sentences) if bests and not view.plan.judged_steps else (),
    )


def _bests(view: View) -> list[Col[Best]]:
    """Return the columns of the table of best services.

    Figures are medians over the odd-numbered blocks, because the even-numbered blocks chose the services.
    """

    def judged(figure: Reader) -> Callable[[Best], float | None]:
        return lambda best: median_of(figure, (cell for cell in best.judged.values() if cell.status == "ok")) or None

    return [
        arm_col("row.runtime", view.looks, "row.trace"),
        col("Best service", lambda best: view.settings.where(best.row)),
        col("candidates", lambda best: words(str(best.of)), whole, rank=2),
        col("requests/s", judged(requests_per_s), whole, JUDGED, trace="row.trace"),
        col(
            "service CPU [us/request]",
            judged(lambda cell: per_request(cpu_ns(cell.services), cell) or 0.0),
            microseconds, JUDGED, trace="row.trace", brief=message("CPU [us]"), rank=1,
        ),
    ]  # fmt: skip


def _work(work: Mapping[str, Any], view: View) -> Message:
    """Return the parameter values that distinguish *work* from the run's other kinds of work; empty for one kind."""
    rows = (best.row for same in view.bests.values() for best in same.values())
    return verbatim(parameter_values(work, varying(rows)))


def _sentence(step: Comparison, view: View) -> Message:
    """Return a sentence that compares the best services of two runtimes: their names, throughput ratio and verdict."""
    below, above = (view.settings.where(Setting(**side)) for side in step.settings)
    verdict = step.word
    if step.obstacle:
        verdict = message("{verdict} ({why})", verdict=verdict, why=step.obstacle)
    sentence = message(
        "The best service on {numerator} ({above}) has {ratio} times the throughput of the best service on "
        "{denominator} ({below}): {verdict}.",
        numerator=step.numerator,
        above=above,
        ratio=ratio_datum(step).text(ENGLISH),
        denominator=step.denominator,
        below=below,
        verdict=verdict,
    )
    if work := _work(step.params, view):
        sentence = message("{work}: {sentence}", work=work, sentence=sentence)
    return traced(sentence, step.trace)
