"""The report of a run as a document: all sections for which the run has data.

reports/write.py calls report() to write report.html, findings.md and the plots. The terminal shows
the sections alone (commands/report.py). A Document is a value; reports/render/ writes it.
"""

from collections.abc import Iterable

from core.messages import Message, message, verbatim
from reports.document.model import Document, Figure, Section
from reports.sections import sections
from reports.sections.machine import size_line
from reports.view import View


def report(view: View) -> Document:
    """Return the whole report of a run."""
    run, plan, others = view.run, view.plan, view.others
    begun = run.started_at[:16].replace("T", " ")
    return Document(
        name=f"{view.name}: {run.run_id}",
        title=message("Benchmark report"),
        about=(
            # the lines under the title, in this order
            Message(msgid=plan.description) if plan.description else verbatim(view.name),
            size_line(view),
            *(
                [message("Other activity on this machine: {others}.", others=others.marks)]
                if others
                else []
            ),
            *[view.beside] * bool(view.beside),
            verbatim(" · ".join([view.machine.cpu or "?", f"{begun} UTC", run.run_id])),
        ),
        sections=sections(view),
        foot=message(
            "Every figure on this page comes from {file}. Click a runtime's name in a table to see "
            "the measurements of the runtime.",
            file="result.json",
        ),
    )


def figures(parts: Iterable[Section]) -> list[Figure]:
    """Return all figures of sections and their subsections, in the order of the page."""
    return [figure for section in parts for figure in (*section.figures, *figures(section.parts))]
