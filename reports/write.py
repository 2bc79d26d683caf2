"""Everything that a run leaves in its folder beside result.json."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.errors import BadInput, GilscopeError
from core.files import put, write
from core.languages import ENGLISH, Language
from core.messages import SENTENCES, Message, listed, message
from core.result import PLOTS
from reports.exports.texts import csv_files, markdown_files
from reports.names import PAGE
from reports.render.figures import save
from reports.render.html import page
from reports.report import figures, report
from reports.view import View


class PartsLost(GilscopeError):
    """Files of a report that could not be made. paths: of all the others, which are written."""

    def __init__(self, paths: Sequence[Path], reasons: Sequence[Message]) -> None:
        super().__init__(listed(reasons, SENTENCES))
        self.paths = list(paths)
        self.reasons = list(reasons)


def write_all(view: View, folder: Path, language: Language = ENGLISH) -> list[Path]:
    """Write page, tables, findings, plots, and record.md where the run has the seed's rows; the paths of all.

    Raises BadInput if *folder* cannot be written, and PartsLost when some parts could not be made: that is our bug,
    and loses no other part.
    """
    document = report(view)
    texts = {PAGE: lambda: page(document, language), **markdown_files(view, document, language), **csv_files(view)}
    paths, lost = _written(texts, folder)
    plots = folder / PLOTS
    for figure in figures(document):
        try:
            plots.mkdir(exist_ok=True)
            paths += save(figure, plots, language)
        except OSError as error:
            raise _unwritable(plots, error) from error
        except Exception as error:
            lost.append(_lost(f"{PLOTS}/{figure.key}", error))
    if lost:
        raise PartsLost(paths, lost)
    return paths


def _written(texts: Mapping[str, Callable[[], str]], folder: Path) -> tuple[list[Path], list[Message]]:
    """The paths of the files that were written, and why others were not."""
    paths: list[Path] = []
    lost: list[Message] = []
    for name, make in texts.items():
        try:
            text = make()
        except Exception as error:
            lost.append(_lost(name, error))
            continue
        paths.append(_put(folder / name, text))
    return paths, lost


def _put(path: Path, text: str) -> Path:
    try:
        put(path, text)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def write_text(path: Path, text: str) -> Path:
    """Write *text* where a user named it; its path. Raises BadInput if it cannot be written."""
    try:
        write(path, text)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _lost(name: str, error: Exception) -> Message:
    """What could not be made, why, and where in our code, for whoever mends it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return message(
        "{name} could not be made ({kind}: {cause}, in {where}); please report that as a bug.",
        name=name, kind=type(error).__name__, cause=str(error), where=f"{Path(last.filename).name}:{last.lineno}",
    )  # fmt: skip


def _unwritable(path: Path, error: OSError) -> BadInput:
    cause = str(error.strerror or error)
    return BadInput("{path} cannot be written: {cause}; make room or give write access.", path=str(path), cause=cause)
