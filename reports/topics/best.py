"""The best service under each runtime, and what that of the last runtime serves against each other one's."""

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

PLACE = 32
WANTED = message("The best service under each runtime, one against another")
COMMAND = "python runner.py --experiment best"
TITLE = message("The best of each runtime")
JUDGED = "of judging blocks"
HOW = message(
    "The best is, of all services that do the same work and speak the same frames (systems, DISPATCH and other "
    "settings, alternatives), the one that took least time per request in the blocks with an even number. Figures and "
    "verdicts are of the other blocks alone, so that luck in being picked counts for nothing. Verdicts are adjusted "
    "for all steps between bests."
)


def section(view: View) -> Section:
    """Return a sentence for each step between two bests, and who they are."""
    sentences = tuple(_sentence(step, view) for step in view.between_bests)
    works = {str(best.work): best.work for best in view.bests}.values()
    groups = [(_work(work, view), [best for best in view.bests if best.work == work]) for work in works]
    bests = table(TITLE, _bests(view), groups, titled=True)
    steps = table(message("Steps between bests"), _steps(view), [(NOTHING, view.between_bests)], folded=True)
    return Section(
        key="best",
        title=TITLE,
        sentences=sentences,
        tables=(bests, steps),
        notes=(HOW,) if bests else (),
        terminal=(bests, *sentences) if bests and not view.plan.judged_steps else (),
    )


def _bests(view: View) -> list[Col[Best]]:
    def of(best: Best) -> str:
        return of_row(best.row)

    return [
        arm_col(lambda best: best.row.runtime, view.looks, of),
        col(message("Best service"), lambda best: view.settings.where(best.row.system, best.row.params)),
        col(message("of"), lambda best: words(str(best.of)), whole, rank=2),
        col(message("requests/s"), _judged(requests_per_s), whole, of, JUDGED),
        col(
            message("service CPU [us/request]"),
            _judged(lambda cell: per_request(cpu_ns(cell.services), cell) or 0.0),
            microseconds, of, JUDGED, brief=message("CPU [us]"), rank=1,
        ),
    ]  # fmt: skip


def _judged(figure: Callable[[CellResult], float]) -> Callable[[Best], float | None]:
    """Return what reads the median over the blocks that judge; None if it is 0, or nothing is known."""

    def read(best: Best) -> float | None:
        values = [figure(cell) for cell in best.judged.values() if cell.status == "ok"]
        return median(values or [0.0]) or None

    return read


def _steps(view: View) -> list[Col[Comparison]]:
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
    """Return what tells a work from the others of the run; nothing if it is the only one."""
    return verbatim(parameter_values(work, varying([best.row for best in view.bests])))


def _sentence(step: Comparison, view: View) -> Message:
    below, above = (view.settings.where(side["system"], side["params"]) for side in step.settings)
    verdict = WORDS[step.verdict]
    if step.obstacle:
        verdict = message("{verdict}, for {why}", verdict=verdict, why=step.obstacle)
    sentence = message(
        "{numerator} at its best ({above}) serves {ratio} times what {denominator} does at its best ({below}): "
        "{verdict}.",
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
