"""Everything that a run leaves in its folder beside result.json."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from core.errors import BadInput, GilscopeError
from core.files import put
from core.languages import ENGLISH, Language
from core.messages import SENTENCES, Message, listed, message
from core.result import PLOTS
from reports.exports.texts import csv_files, markdown_files
from reports.names import PAGE
from reports.render.apart import Drawings, failure
from reports.render.html import page
from reports.report import figures, report
from reports.view import View

Files = Mapping[str, str | bytes]


class PartsLost(GilscopeError):
    """Files of a report that could not be made. paths: of all the others, which are written."""

    def __init__(self, paths: Sequence[Path], reasons: Sequence[Message]) -> None:
        super().__init__(listed(reasons, SENTENCES))
        self.paths = list(paths)
        self.reasons = list(reasons)


def write_all(view: View, folder: Path, language: Language = ENGLISH, drawings: Drawings | None = None) -> list[Path]:
    """Write page, tables, findings, plots, and record.md if the run has the seed's rows. Return the paths of all.

    drawings: the process that draws, if it has been started
    Raises BadInput if *folder* cannot be written, and PartsLost if some parts could not be made: that is our bug,
    and loses no other part.
    """
    with drawings or Drawings() as drawn:
        document = report(view)
        shown = figures(document)
        drawn.ask(shown, language)
        tables = {**markdown_files(view, document, language), **csv_files(view)}
        parts: dict[str, Callable[[], Files]] = {name: partial(_alone, name, make) for name, make in tables.items()}
        parts[PAGE] = partial(_alone, PAGE, lambda: page(document, language, panels=drawn.panels))
        parts |= {f"{PLOTS}/{figure.key}": partial(drawn.files, figure) for figure in shown}
        return _written(parts, folder)


def _alone(name: str, make: Callable[[], str]) -> Files:
    return {name: make()}


def _written(parts: Mapping[str, Callable[[], Files]], folder: Path) -> list[Path]:
    """Write the files of each part, and return their paths. Raises PartsLost if a part could not be made."""
    paths: list[Path] = []
    lost: list[Message] = []
    for part, make in parts.items():
        try:
            files = make()
        except Exception as error:
            lost.append(_lost(part, error))
            continue
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
            "{path} cannot be written: {cause}; make room or give write access.", path=str(path), cause=cause
        ) from error
    return path


def _lost(name: str, error: Exception) -> Message:
    """Return what could not be made, why, and where in our code, for whoever mends it."""
    why = failure(error)
    return message(
        "{name} could not be made ({kind}: {cause}, in {where}); please report that as a bug.", name=name, **vars(why)
    )
