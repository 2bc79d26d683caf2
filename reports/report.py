"""The report of a run as a document: every topic that the run has something to say on, in their order."""

from core.messages import message, verbatim
from reports.document.model import Document, Figure, Section
from reports.topics import sections
from reports.topics.machine import size_line
from reports.view import View


def report(view: View) -> Document:
    """The whole report."""
    plan, beside = view.plan, view.others
    return Document(
        name=f"{plan.name}: {view.run.run_id}",
        title=message("What the runtimes do"),
        about=(
            verbatim((plan.description or plan.name).replace("`", "")),
            size_line(view),
            *([message("On this machine {others}.", others=beside.blocks)] if beside else []),
            verbatim(" · ".join([view.machine.cpu or "?", f"{_minute(view.run.started_at)} UTC", view.run.run_id])),
        ),
        sections=tuple(sections(view)),
        foot=message(
            "Every figure here comes from {file}; a runtime's name in a table leads to its cells.", file="result.json"
        ),
    )


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def figures(document: Document) -> list[Figure]:
    """All figures of a document, in its order."""
    return [figure for section in document.sections for figure in _figures(section)]


def _figures(section: Section) -> list[Figure]:
    return [*section.figures, *(figure for part in section.parts for figure in _figures(part))]
