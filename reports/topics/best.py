"""The best service under each runtime, and what that of the last runtime serves against each other one's."""

from collections.abc import Callable
from statistics import median
from typing import Any

from core.languages import ENGLISH
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.result import CellResult
from reports.document.model import Column, Datum, Form, Section, arm, number, traced, words
from reports.document.values import microseconds, percent, probability, ratio, whole
from reports.facts.best import Best
from reports.facts.comparisons import Comparison
from reports.facts.figures import cpu_ns, per_request, requests_per_s
from reports.facts.settings import parameter_values, varying
from reports.facts.traces import of_rows
from reports.statistics.verdict import WORDS
from reports.topics.contest import REQUESTS_S, Of, table_of
from reports.view import View

PLACE = 32
WANTED = message("The best service under each runtime, one against another")
COMMAND = "python runner.py --experiment best"
TITLE = message("The best of each runtime")
HOW = message(
    "The best is, of all services that do the same work and speak the same frames (systems, DISPATCH and other "
    "settings, alternatives), the one that took least time per request in the blocks with an even number. Figures and "
    "verdicts are of the other blocks alone, so that luck in being picked counts for nothing. Verdicts are adjusted "
    "for all steps between bests."
)


def section(view: View) -> Section:
    """A sentence for each step between two bests, and who they are."""
    sentences = tuple(_sentence(step, view) for step in view.between_bests)
    works = {str(best.work): best.work for best in view.bests}.values()
    groups = [(_work(work, view), [best for best in view.bests if best.work == work]) for work in works]
    bests = table_of(TITLE, _bests(view), groups, titled=True)
    steps = table_of(message("Steps between bests"), _steps(view), [(NOTHING, view.between_bests)], folded=True)
    return Section(
        key="best",
        title=TITLE,
        sentences=sentences,
        tables=(bests, steps),
        notes=(HOW,) if bests else (),
        terminal=(bests, *sentences) if bests and not view.plan.judged_steps else (),
    )


def _bests(view: View) -> list[Of[Best]]:
    return [
        (Column(head=message("Runtime")), lambda best: arm(best.row.runtime, view.looks[best.row.runtime], _of(best))),
        (Column(head=message("Best service")), lambda best: words(_service(vars(best.row), view))),
        (Column(head=message("of"), is_number=True, rank=2), lambda best: words(str(best.of))),
        (Column(head=REQUESTS_S, is_number=True), _judged(requests_per_s, whole)),
        (
            Column(head=message("service CPU [us/request]"), brief=message("CPU [us]"), is_number=True, rank=1),
            _judged(lambda cell: per_request(cpu_ns(cell.services), cell) or 0.0, microseconds),
        ),
    ]


def _judged(figure: Callable[[CellResult], float], form: Form) -> Callable[[Best], Datum]:
    """The median over the blocks that judge; '-' where that is 0."""

    def datum(best: Best) -> Datum:
        values = [figure(cell) for cell in best.judged.values() if cell.status == "ok"]
        return number((median(values) if values else 0) or None, form, _of(best), "of judging blocks")

    return datum


def _steps(view: View) -> list[Of[Comparison]]:
    def of(step: Comparison, value: float | None, form: Form, **more: Any) -> Datum:
        return number(value, form, view.traces.of(step), "of judging blocks", **more)

    return [
        (Column(head=message("Step")), lambda step: words(step.label, cells=view.traces.of(step), leads=True)),
        (Column(head=message("Ratio [95 %]"), is_number=True), lambda step: of(step, step.ratio, ratio, **_ends(step))),
        (Column(head=message("p"), is_number=True), lambda step: of(step, step.p, probability)),
        (Column(head=message("Noise floor"), is_number=True), lambda step: number(step.noise_floor, percent)),
        (Column(head=message("Verdict")), lambda step: words(WORDS[step.verdict], state=f"word {step.verdict}")),
        (Column(head=message("Why")), lambda step: words(listed([step.why, *step.limits], SEMICOLON))),
    ]


def _ends(step: Comparison) -> dict[str, Any]:
    return {"low": step.low, "high": step.high, "is_range": step.is_range}


def _of(best: Best) -> str:
    return of_rows([best.row])


def _service(setting: Any, view: View) -> Message:
    """'System 4, DISPATCH leader'; an alternative by its name."""
    return view.settings.where(setting["system"], setting["params"])


def _work(work: Any, view: View) -> Message:
    """What tells a work from the others of the run; nothing where it is the only one."""
    return verbatim(parameter_values(work, varying([best.row for best in view.bests])))


def _sentence(step: Comparison, view: View) -> Message:
    below, above = (_service(side, view) for side in step.settings)
    verdict = WORDS[step.verdict]
    if step.obstacle:
        verdict = message("{verdict}, for {why}", verdict=verdict, why=step.obstacle)
    sentence = message(
        "{numerator} at its best ({above}) serves {ratio} times what {denominator} does at its best ({below}): "
        "{verdict}.",
        numerator=step.numerator,
        above=above,
        ratio=number(step.ratio, ratio, **_ends(step)).text(ENGLISH),
        denominator=step.denominator,
        below=below,
        verdict=verdict,
    )
    work = _work(step.params, view)
    return traced(
        message("{work}: {sentence}", work=work, sentence=sentence) if work else sentence, view.traces.of(step)
    )
