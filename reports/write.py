"""Write the files of a report into the folder of the run, beside result.json.

commands/report.py calls write_all() at the end of a run and for the command report, after it has
checked that no foreign file is overwritten: a new file in the folder also belongs into IN_FOLDER
(reports/exports/__init__.py).
"""

import traceback
from functools import partial
from pathlib import Path

from core.files import put
from core.languages import ENGLISH, Language
from core.messages import BadInput, Message, message
from record.saved_run import PLOTS
from reports.document.model import Figure
from reports.exports import PAGE
from reports.exports.texts import text_files
from reports.render.html import page
from reports.run_document import figures, report
from reports.view import View


def write_all(view: View, folder: Path, language: Language = ENGLISH) -> list[Message]:
    """Write all files of the report into *folder*: page, tables, findings and plots.

    Return for each file that a bug prevented what happened. All others are written.
    Raises BadInput if *folder* cannot be written.
    """
    from reports.render import figures as drawing  # matplotlib is slow to import

    # A bug in a section is not caught here, so that no file is written.
    document, drawn = report(view), dict[str, list[str]]()

    def panels(figure: Figure) -> list[str]:
        """Return the panels of a figure as SVG. They are drawn once, for the page and for the
        plots.
        """
        if figure.key not in drawn:
            drawn[figure.key] = drawing.page_panels(figure, language)
        return drawn[figure.key]

    def plot(figure: Figure) -> str:
        return drawing.sheet(figure, panels(figure), language)

    files = {**text_files(view, document, language)}
    files[PAGE] = lambda: page(document, language, panels)
    files |= {
        f"{PLOTS}/{figure.key}.svg": partial(plot, figure) for figure in figures(document.sections)
    }
    # Contents are made one after the other, so that a bug in one file costs only this file.
    lost = []
    for name, make in files.items():
        try:
            text = make()
        except Exception as error:
            lost.append(_lost(name, error))
        else:
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


def _lost(name: str, error: Exception) -> Message:
    """Return a message that a part of the report could not be created, with the error and its place
    in the code.
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    return message(
        "{name} could not be created ({kind}: {cause}, in {where}). Please report this bug.",
        name=name,
        kind=type(error).__name__,
        cause=str(error),
        where=f"{Path(last.filename).name}:{last.lineno}",
    )
