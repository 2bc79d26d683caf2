"""Compare the fastest service under the plan's last runtime with the fastest service under each other runtime."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from core.languages import ENGLISH
from core.messages import NOTHING, Message, message, verbatim
from core.result import CellResult
from reports.document.model import Section, traced, words
from reports.document.shapes import Col, arm_col, col, table
from reports.document.values import microseconds, percent, probability, ratio, whole
from reports.facts.best import Best
from reports.facts.comparisons import Comparison
from reports.facts.figures import cpu_ns, per_request, requests_per_s
from reports.facts.settings import parameter_values, varying
from reports.facts.traces import of_row
from reports.statistics.verdict import WORDS
from reports.topics.comparisons import FLOOR, RATIO, VERDICT, P, ratio_datum, step_col, why_col
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


def section(view: View) -> Section:
    """Return the report's section on each runtime's best service, with a sentence for each two compared services."""
    sentences = tuple(_sentence(step, view) for step in view.between_bests)
    works = {str(best.work): best.work for best in view.bests}.values()
    groups = [(_work(work, view), [best for best in view.bests if best.work == work]) for work in works]
    bests = table(TITLE, _bests(view), groups, titled=True)
    steps = table(
        message("Comparisons of the best services"), _steps(view), [(NOTHING, view.between_bests)], folded=True
    )
    return Section(
        key="best",
        title=TITLE,
        sentences=sentences,
        tables=(bests, steps),
        notes=(HOW,) if bests else (),
        terminal=(bests, *sentences) if bests and not view.plan.judged_steps else (),
    )


def _bests(view: View) -> list[Col[Best]]:
    """Return the columns of the table of best services."""

    def of(best: Best) -> str:
        return of_row(best.row)

    return [
        arm_col(lambda best: best.row.runtime, view.looks, of),
        col(message("Best service"), lambda best: view.settings.where(best.row.system, best.row.params)),
        col(message("candidates"), lambda best: words(str(best.of)), whole, rank=2),
        col(message("requests/s"), _judged(requests_per_s), whole, of, JUDGED),
        col(
            message("service CPU [us/request]"),
            _judged(lambda cell: per_request(cpu_ns(cell.services), cell) or 0.0),
            microseconds, of, JUDGED, brief=message("CPU [us]"), rank=1,
        ),
    ]  # fmt: skip


def _judged(figure: Callable[[CellResult], float]) -> Callable[[Best], float | None]:
    """Return a function that computes the median of *figure* over the odd-numbered rounds (blocks) of a best service.

    The even-numbered blocks chose the service, so they cannot judge it. A median of 0 becomes None.
    """
    return lambda best: median([figure(cell) for cell in best.judged.values() if cell.status == "ok"] or [0.0]) or None


def _steps(view: View) -> list[Col[Comparison]]:
    """Return the columns of the table that compares the best services of two runtimes."""
    of = view.traces.of
    return [
        step_col(view),
        col(RATIO, lambda step: ratio_datum(step, of(step), JUDGED), ratio),
        col(P, lambda step: step.p, probability, of, JUDGED),
        col(FLOOR, lambda step: step.noise_floor, percent),
        col(VERDICT, lambda step: words(WORDS[step.verdict], state=f"word {step.verdict}")),
        why_col(),
    ]


def _work(work: Mapping[str, Any], view: View) -> Message:
    """Return the parameter values that distinguish *work* from the run's other kinds of work; empty for one kind."""
    return verbatim(parameter_values(work, varying([best.row for best in view.bests])))


def _sentence(step: Comparison, view: View) -> Message:
    """Return a sentence that compares the best services of two runtimes: their names, throughput ratio and verdict."""
    below, above = (view.settings.where(side["system"], side["params"]) for side in step.settings)
    verdict = WORDS[step.verdict]
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
    return traced(sentence, view.traces.of(step))
