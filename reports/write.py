"""Make the report of a run, and write its files into the folder of the run, beside result.json.

commands/report.py calls write_all() at the end of a run and for the command report, after it has
checked that no foreign file is overwritten: a new file in the folder also belongs into IN_FOLDER
(reports/exports/__init__.py). The terminal shows the sections alone (commands/report.py).
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from core.files import put
from core.languages import ENGLISH, Language
from core.messages import NOTHING, BadInput, Message, message, verbatim
from record.saved_run import PLOTS
from reports.document import Document, Figure, Section
from reports.exports import FINDINGS, PAGE
from reports.exports.texts import sheets
from reports.render.html import page
from reports.render.markdown import markdown
from reports.sections import bug, sections
from reports.sections.machine import size_line
from reports.view import View

Made = TypeVar("Made")


def report(view: View) -> Document:
    """Return the whole report of a run: all sections for which the run has data."""
    run, plan, others = view.run, view.plan, view.others
    begun = run.started_at[:16].replace("T", " ")
    activity = NOTHING
    if others:
        activity = message("Other activity on this machine: {others}.", others=others.marks)
    return Document(
        name=f"{view.name}: {run.run_id}",
        title=message("Benchmark report"),
        about=(
            # the lines under the title, in this order
            Message(msgid=plan.description) if plan.description else verbatim(view.name),
            size_line(view),
            *filter(None, [activity, view.beside]),
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


def write_all(view: View, folder: Path, language: Language = ENGLISH) -> list[Message]:
    """Write all files of the report into *folder*: page, tables, findings and plots.

    Return for each section and file that a bug prevented what happened. All others are written.
    Raises BadInput if *folder* cannot be written.
    """
    from reports.render import figures as drawing  # matplotlib is slow to import

    lost = list[Message]()

    def attempt(name: str, make: Callable[[], Made]) -> Made | None:
        """Return what *make* returns; None if a bug prevents it, which `lost` then names."""
        try:
            return make()
        except Exception as error:
            lost.append(bug(name, error))
            return None

    files = sheets(view)
    if document := attempt(PAGE, lambda: report(view)):
        lost += [section.bug for section in document.sections if section.bug]
        files[FINDINGS] = lambda: markdown(document, language)
        shown = figures(document.sections)
        # Panels are drawn once, for the page and for the plots.
        drawn = {one.key: cache(partial(drawing.page_panels, one, language)) for one in shown}

        def plot(one: Figure) -> str:
            return drawing.sheet(one, drawn[one.key](), language)

        files[PAGE] = lambda: page(document, language, lambda one: drawn[one.key]())
        for one in shown:
            files[f"{PLOTS}/{one.key}.svg"] = partial(plot, one)
    # Contents are made one after the other, so that a bug in one file costs only this file.
    for name, make in files.items():
        text = attempt(name, make)
        if text is not None:
            _put(folder / name, text)
    return lost


def _put(path: Path, content: str) -> None:
    try:
        # for PLOTS; the folder of the run exists
        path.parent.mkdir(exist_ok=True)
        put(path, content)
    except OSError as error:
        cause = str(error.strerror or error)
        raise BadInput(
            "{path} cannot be written: {cause}. Free some space or give write access.",
            path=str(path),
            cause=cause,
        ) from error
