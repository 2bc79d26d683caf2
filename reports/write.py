"""Write the files of a report into the folder of the run, beside result.json."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from core.errors import BadInput, GilscopeError
from core.files import put
from core.languages import ENGLISH, Language
from core.messages import SENTENCES, Message, listed, message
from record.saved_run import PLOTS
from reports.document.model import Figure
from reports.exports import PAGE
from reports.exports.texts import text_files
from reports.render.html import page
from reports.run_document import figures, report
from reports.view import View

Files = Mapping[str, str | bytes]


class PartsLost(GilscopeError):
    """An error for a report of which some files could not be created.

    paths: all other files, which are written
    """

    def __init__(self, paths: Sequence[Path], reasons: Sequence[Message]) -> None:
        super().__init__(listed(reasons, SENTENCES))
        self.paths = list(paths)
        self.reasons = list(reasons)


def write_all(view: View, folder: Path, language: Language = ENGLISH) -> list[Path]:
    """Write all files of the report into *folder* and return their paths: page, tables, findings
    and plots.

    Raises BadInput if *folder* cannot be written. Raises PartsLost if a bug prevented some files;
    all others are written.
    """
    from reports.render import figures as drawing  # matplotlib is slow to import

    document, drawn = report(view), dict[str, list[str]]()

    def panels(figure: Figure) -> list[str]:
        """Return the panels of a figure as SVG. They are drawn once, for the page and for the
        plots.
        """
        if figure.key not in drawn:
            drawn[figure.key] = drawing.page_panels(figure, language)
        return drawn[figure.key]

    def files(figure: Figure) -> Files:
        return drawing.files(figure, panels(figure), language)

    parts: dict[str, Callable[[], str | Files]] = {**text_files(view, document, language)}
    parts[PAGE] = lambda: page(document, language, panels)
    parts |= {
        f"{PLOTS}/{figure.key}": partial(files, figure) for figure in figures(document.sections)
    }
    return _written(parts, folder)


def _written(parts: Mapping[str, Callable[[], str | Files]], folder: Path) -> list[Path]:
    """Write the files of each part of a report and return their paths. Raises PartsLost if a part
    cannot be created.
    """
    paths: list[Path] = []
    lost: list[Message] = []
    for part, make in parts.items():
        try:
            made = make()
        except Exception as error:
            lost.append(_lost(part, error))
            continue
        files = {part: made} if isinstance(made, str) else made
        paths += [_put(folder / name, content) for name, content in files.items()]
    if lost:
        raise PartsLost(paths, lost)
    return paths


def _put(path: Path, content: str | bytes) -> Path:
    try:
        path.parent.mkdir(exist_ok=True)
        put(path, content)
    except OSError as error:
        cause = str(error.strerror or error)
        raise BadInput(
            "{path} cannot be written: {cause}. Free some space or give write access.",
            path=str(path),
            cause=cause,
        ) from error
    return path


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
